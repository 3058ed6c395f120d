// Small helpers shared by the recorder's files about iterators. Needs tracer/sym.h. Internal to record_iterators*.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tracer/sym.h"

namespace hotloop::tracer {

inline Sym int_part(ir::ValueId v) {
  Sym s;
  s.kind = ir::PyKind::Int;
  s.v[0] = v;
  return s;
}

inline Sym compound(ir::PyKind kind, std::vector<Sym> items) {
  Sym s;
  s.kind = kind;
  s.items = std::make_shared<std::vector<Sym>>(std::move(items));
  return s;
}

// The name of an iterator's type, and what else to write where it is not compiled.
std::string with_advice(const char* type);

}  // namespace hotloop::tracer
