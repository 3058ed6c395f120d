// See preserving_call.h. The stack is aligned as the ABI asks for: the return address, nine registers, fifteen times 16 bytes.
#include "codegen/preserving_call.h"

#include <cmath>

extern "C" __attribute__((visibility("hidden"), used)) double hotloop_pow_plain(double x, double y) { return std::pow(x, y); }

#define HL_EACH_GP(what) what(rax) what(rcx) what(rdx) what(rsi) what(rdi) what(r8) what(r9) what(r10) what(r11)
#define HL_EACH_GP_BACK(what) what(r11) what(r10) what(r9) what(r8) what(rdi) what(rsi) what(rdx) what(rcx) what(rax)
#define HL_EACH_XMM(what) \
  what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11) what(12) what(13) what(14) what(15)
#define HL_PUSH(reg) "pushq %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define HL_POP(reg) "popq %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define HL_SAVE(number) "movups %xmm" #number ", 16*" #number "-16(%rsp)\n"
#define HL_RESTORE(number) "movups 16*" #number "-16(%rsp), %xmm" #number "\n"

asm(".pushsection .text\n"
    ".p2align 4\n"
    ".globl hotloop_pow_preserving\n"
    ".hidden hotloop_pow_preserving\n"
    ".type hotloop_pow_preserving, @function\n"
    "hotloop_pow_preserving:\n"
    ".cfi_startproc\n" HL_EACH_GP(HL_PUSH) "subq $240, %rsp\n"
    ".cfi_adjust_cfa_offset 240\n" HL_EACH_XMM(HL_SAVE) "call hotloop_pow_plain\n" HL_EACH_XMM(HL_RESTORE) "addq $240, %rsp\n"
    ".cfi_adjust_cfa_offset -240\n" HL_EACH_GP_BACK(HL_POP) "ret\n"
    ".cfi_endproc\n"
    ".size hotloop_pow_preserving, .-hotloop_pow_preserving\n"
    ".popsection\n");
