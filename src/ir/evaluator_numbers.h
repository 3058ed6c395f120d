// Numbers as the evaluator computes with them: the SSE instructions, machine types as C++ types, cells, Python's integer division. Internal to
// evaluator.cpp.
//
// Needs ir/types.h, ir/numeric.h. Promises: what machine code gives, NaN payloads included (SSE: the first operand's NaN wins).
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "ir/numeric.h"
#include "ir/types.h"

namespace hotloop::ir {

// The SSE instructions themselves: a compiler may swap the operands of a commutative operation, which shows in NaN payloads.
#define HL_SSE_BINARY(name, instruction_f64, instruction_f32)                \
  inline double name(double a, double b) {                                  \
    asm(instruction_f64 " %1, %0" : "+x"(a) : "x"(b));                      \
    return a;                                                               \
  }                                                                         \
  inline float name(float a, float b) {                                     \
    asm(instruction_f32 " %1, %0" : "+x"(a) : "x"(b));                      \
    return a;                                                               \
  }
HL_SSE_BINARY(sse_add, "addsd", "addss")
HL_SSE_BINARY(sse_sub, "subsd", "subss")
HL_SSE_BINARY(sse_mul, "mulsd", "mulss")
HL_SSE_BINARY(sse_div, "divsd", "divss")
#undef HL_SSE_BINARY

inline double sse_sqrt(double a) {
  asm("sqrtsd %0, %0" : "+x"(a));
  return a;
}
inline float sse_sqrt(float a) {
  asm("sqrtss %0, %0" : "+x"(a));
  return a;
}

// The value itself; a signalling NaN becomes quiet, as in every SSE operation.
template <typename Float>
Float quieted(Float a) {
  return sse_mul(a, Float(1));
}

template <typename T>
struct Tag {
  using type = T;
};

// Calls `run` with the C++ type that stands for the machine type; false when it is not among those of the family.
template <typename Run>
inline bool with_int(Type type, Run&& run) {
  switch (type) {
    case Type::I8: run(Tag<int8_t>{}); return true;
    case Type::I16: run(Tag<int16_t>{}); return true;
    case Type::I32: run(Tag<int32_t>{}); return true;
    case Type::I64: run(Tag<int64_t>{}); return true;
    case Type::U8: run(Tag<uint8_t>{}); return true;
    case Type::U16: run(Tag<uint16_t>{}); return true;
    case Type::U32: run(Tag<uint32_t>{}); return true;
    case Type::U64: run(Tag<uint64_t>{}); return true;
    default: return false;
  }
}
template <typename Run>
inline bool with_float(Type type, Run&& run) {
  if (type == Type::F64) return run(Tag<double>{}), true;
  if (type == Type::F32) return run(Tag<float>{}), true;
  return false;
}
template <typename Run>
inline bool with_scalar(Type type, Run&& run) {
  if (type == Type::I1) return run(Tag<bool>{}), true;
  return with_float(type, run) || with_int(type, run);
}

template <typename T>
T from_cell(int64_t cell) {
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(cell);
  else if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<uint32_t>(cell));
  else if constexpr (std::is_same_v<T, bool>) return cell != 0;
  else return static_cast<T>(cell);
}
template <typename T>
int64_t to_cell(T value) {
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<int64_t>(value);
  else if constexpr (std::is_same_v<T, float>) return static_cast<int64_t>(std::bit_cast<uint32_t>(value));
  else return static_cast<int64_t>(value);
}

template <typename T>
using UnsignedOf = std::make_unsigned_t<T>;

template <typename T>
T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <typename T>
T floor_div_int(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) return static_cast<T>(a / b);
  else {
    const T quotient = static_cast<T>(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
  }
}
template <typename T>
T floor_mod_int(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) return static_cast<T>(a % b);
  else {
    if (b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
}

inline double floor_div_float(double a, double b) { return floordiv_f64(a, b); }
inline float floor_div_float(float a, float b) { return floordiv_f32(a, b); }
inline double floor_mod_float(double a, double b) { return floormod_f64(a, b); }
inline float floor_mod_float(float a, float b) { return floormod_f32(a, b); }

}  // namespace hotloop::ir
