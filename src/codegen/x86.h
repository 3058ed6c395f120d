// The scalar x86-64 back end: a verified, optimised ir::Function to machine code, through asmjit's Compiler.
//
// Needs ir/. Promises: emitted code follows ir/activation.h; SSE2 baseline, AVX encodings when the CPU has them and `isa` allows; no contraction,
// no reassociation; W^X memory; asmjit errors become refusals, never crashes. No asmjit header is visible here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "ir/activation.h"
#include "ir/ir.h"
#include "ir/numeric.h"

namespace hotloop::codegen {

enum class Isa : uint8_t { kSse2, kAvx, kAvx2, kAvx512, kNative };

struct CodegenOptions {
  Isa isa = Isa::kNative;
  bool force_exits = false;  // every op with an exit also counts Activation::force_countdown down
  bool want_asm = false;     // keep the listing
  bool validate = false;     // asmjit's own validation
};

// Machine code of one region; the memory is released with the object.
class CompiledCode {
 public:
  virtual ~CompiledCode() = default;
  virtual ir::NativeFunction entry() const = 0;
  virtual size_t size() const = 0;                  // bytes
  virtual const std::string& listing() const = 0;   // empty unless want_asm
};

// REQUIRES: enumerate_exits(function) has been called. Refusals: TooLarge, Internal (asmjit error text in detail).
base::Result<std::unique_ptr<CompiledCode>> compile(const ir::Function& function, const ir::HelperTable& helpers, const CodegenOptions& options);

}  // namespace hotloop::codegen
