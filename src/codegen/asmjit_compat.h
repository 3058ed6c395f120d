// The one place that includes asmjit, and that evens out the differences between the revisions that distributions ship (2022-12-10 and
// 2023-11-15). Needs asmjit. Promises: code in src/codegen compiles with both.
#pragma once
#include <asmjit/x86.h>

namespace hotloop::codegen {

// The signature uint32_t(void*): FuncSignatureT became FuncSignature::build in later revisions, the builder form below is in both.
inline asmjit::Error region_signature(asmjit::x86::Compiler& cc, asmjit::FuncNode** node) {
  asmjit::FuncSignatureBuilder signature(asmjit::CallConvId::kHost);
  signature.setRet(asmjit::TypeId::kUInt32);
  signature.addArg(asmjit::TypeId::kUIntPtr);
  return cc.addFuncNode(node, signature);
}

// Does nothing; a reference to it makes the linker take asmjit_verify.cpp.
void link_without_verification();

}  // namespace hotloop::codegen
