// Switches off a check that distributions' asmjit has compiled in (their library is built without NDEBUG): its register allocator verifies every
// assignment of registers at every block, over all values of the function, which took a third of the time to compile large loops and grows with
// their square.
//
// Needs: asmjit as a static library, where the check is an inline member and so a weak symbol; ours is taken instead. The names are those of
// asmjit::RAAssignment::verify() in the library versions 1.9 to 1.11; one that the library does not have is never called.
#include "codegen/asmjit_compat.h"

namespace hotloop::codegen {

void link_without_verification() {}

}  // namespace hotloop::codegen

extern "C" {
__attribute__((visibility("hidden"), used)) bool hotloop_verified_9(void*) __asm__("_ZN6asmjit8_abi_1_912RAAssignment6verifyEv");
__attribute__((visibility("hidden"), used)) bool hotloop_verified_10(void*) __asm__("_ZN6asmjit9_abi_1_1012RAAssignment6verifyEv");
__attribute__((visibility("hidden"), used)) bool hotloop_verified_11(void*) __asm__("_ZN6asmjit9_abi_1_1112RAAssignment6verifyEv");

bool hotloop_verified_9(void*) { return true; }
bool hotloop_verified_10(void*) { return true; }
bool hotloop_verified_11(void*) { return true; }
}
