// Numbers of functions of complex numbers, as operands of the helpers ComplexRe, ComplexIm, PowerRe, PowerIm.
// Needs nothing. Promises: number = function * 3 + flavour; the names are those of complex_functions.def.
#pragma once
#include <cstdint>
#include <string_view>

namespace hotloop::ir {

enum class ComplexFlavour : uint8_t { kPython, kNumpy128, kNumpy64 };

struct ComplexFunctionNames {
  std::string_view cmath, numpy;
};
inline constexpr ComplexFunctionNames kComplexFunctions[] = {
#define HL_COMPLEX(enumerator, cmath, numpy) {cmath, numpy},
#include "ir/complex_functions.def"
#undef HL_COMPLEX
};
inline constexpr int kComplexFunctionCount = static_cast<int>(sizeof kComplexFunctions / sizeof *kComplexFunctions);

inline constexpr int64_t complex_number(int function, ComplexFlavour flavour) { return function * 3 + static_cast<int>(flavour); }

// -1: there is none.
inline int find_complex_function(std::string_view name, bool numpy) {
  for (int k = 0; k < kComplexFunctionCount; ++k) {
    if (!name.empty() && (numpy ? kComplexFunctions[k].numpy : kComplexFunctions[k].cmath) == name) return k;
  }
  return -1;
}

}  // namespace hotloop::ir
