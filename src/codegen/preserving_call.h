// pow for code that is hardly ever reached: a call that leaves all registers but its result's as they were, so that the values of the usual path
// need not live in memory because of it (no vector register survives an ordinary call).
//
// Needs x86-64 System V. Promises: of vector registers the low 16 bytes survive, which is what emitted code uses.
#pragma once

extern "C" double hotloop_pow_preserving(double x, double y) __attribute__((visibility("hidden")));
