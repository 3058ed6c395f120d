// The evaluator: walks the tree of blocks, one handler per row of ops.def (a missing one does not compile).
//
// Needs ir/evaluator.h. Promises: the exits, out values, stores and float bits that machine code must give, NaN payloads included (SSE: the
// first operand's NaN wins). As the oracle it does not trust its input: a REQUIRES of ops.def that does not hold ends the process with the op's
// text, because there the machine code's behaviour would be undefined. Recursion depth is the nesting depth of blocks.
#include "ir/evaluator.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/evaluator_numbers.h"
#include "ir/text.h"

namespace hotloop::ir {
namespace {

enum class Flow : uint8_t { kNext, kYield, kExit };

// Whether trunc(value) is a T.
template <typename T, typename Float>
bool truncates_into(Float value) {
  const Float whole = std::trunc(value);
  const Float low = static_cast<Float>(std::numeric_limits<T>::min());                                             // exact: 0 or a power of two
  const Float past = static_cast<Float>(std::ldexp(Float(1), std::numeric_limits<T>::digits));                     // max + 1
  return whole >= low && whole < past;  // false for NaN
}

class Machine {
 public:
  Machine(const Function& f, const HelperTable& helpers, Activation* activation, SnapshotObserver* observer)
      : f_(f), helpers_(helpers), activation_(activation), observer_(observer), cells_(f.value_types.size()) {}

  uint32_t run() {
    const std::vector<ValueId>& params = f_.body->params;
    for (size_t k = 0; k < params.size(); ++k) cells_[params[k]] = activation_->in[k];
    run_block(*f_.body);
    return exit_id_;
  }

 private:
  using Handler = Flow (Machine::*)(const Op&);
  static const Handler kHandlers[];

  Flow run_block(const Block& block) {
    for (const Op* op : block.ops) {
      const Flow flow = (this->*kHandlers[static_cast<size_t>(op->code)])(*op);
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kExit;  // not reached in a verified function
  }

  [[noreturn]] void broken(const Op& op, const char* what) const {
    std::fprintf(stderr, "hotloop: IR evaluator: %s: %s\n", print(f_, op).c_str(), what);
    std::abort();
  }
  void require(bool holds, const Op& op, const char* what) const {
    if (!holds) broken(op, what);
  }

  template <typename T>
  T get(const Op& op, size_t k) const {
    return from_cell<T>(cells_[op.operands[k]]);
  }
  int64_t index(const Op& op, size_t k) const { return cells_[op.operands[k]]; }
  template <typename T>
  Flow set(const Op& op, T value) {
    cells_[op.results[0]] = to_cell(value);
    return Flow::kNext;
  }

  // f(Tag<T>) gives the result, for T the op's type.
  template <typename Compute>
  Flow over_ints(const Op& op, Compute&& compute) {
    require(with_int(op.type, [&](auto tag) { set(op, compute(tag)); }), op, "no such integer type");
    return Flow::kNext;
  }
  template <typename Compute>
  Flow over_floats(const Op& op, Compute&& compute) {
    require(with_float(op.type, [&](auto tag) { set(op, compute(tag)); }), op, "no such float type");
    return Flow::kNext;
  }
  template <typename Ints, typename Floats>
  Flow over_numbers(const Op& op, Ints&& ints, Floats&& floats) {
    return is_float(op.type) ? over_floats(op, floats) : over_ints(op, ints);
  }
  template <typename Compute>
  Flow compare(const Op& op, Compute&& compute) {
    if (op.type == Type::Ptr) return set(op, compute(cells_[op.operands[0]], cells_[op.operands[1]]));
    require(with_scalar(op.type, [&](auto tag) {
              using T = typename decltype(tag)::type;
              set(op, compute(get<T>(op, 0), get<T>(op, 1)));
            }), op, "no such type");
    return Flow::kNext;
  }

  void observe(const Op& op) const {
    if (observer_ != nullptr && op.snapshot != kNoSnapshot) observer_->passes(op.snapshot, cells_.data());
  }
  Flow leave(const Op& op) {
    int64_t* out = activation_->out;
    for (ValueId v : snapshot_values(f_.snapshots[op.snapshot])) *out++ = cells_[v];
    exit_id_ = op.exit_id;
    return Flow::kExit;
  }
  // An op that may exit: `compute` stores the result and says whether the op succeeded.
  template <typename Compute>
  Flow checked(const Op& op, Compute&& compute) {
    const bool forceable = may_be_forced(op);
    if (forceable) observe(op);
    if ((forceable && count_forced_exit(activation_)) || !compute()) {
      if (!forceable) observe(op);
      return leave(op);
    }
    return Flow::kNext;
  }
  template <typename Compute>
  Flow checked_ints(const Op& op, Compute&& compute) {
    return checked(op, [&] {
      bool fits = false;
      require(with_int(op.type, [&](auto tag) {
                using T = typename decltype(tag)::type;
                T result{};
                fits = compute(tag, &result);
                set(op, result);
              }), op, "no such integer type");
      return fits;
    });
  }

  template <typename R, typename... A, size_t... k>
  Flow call_as(const Op& op, void (*function)(), std::index_sequence<k...>) {
    return set(op, reinterpret_cast<R (*)(A...)>(function)(get<A>(op, k)...));
  }

  // Copies a block's yielded values (from operand `first`) to `targets`, all at once.
  void assign(const std::vector<ValueId>& sources, size_t first, const std::vector<ValueId>& targets, size_t first_target) {
    scratch_.clear();
    for (size_t k = first; k < sources.size(); ++k) scratch_.push_back(cells_[sources[k]]);
    for (size_t k = 0; k < scratch_.size(); ++k) cells_[targets[first_target + k]] = scratch_[k];
  }

  char* element(const Op& op, size_t first_index);
  template <typename T>
  Flow load_from(const Op& op, const char* address);
  Flow load_any(const Op& op, const char* address);
  void store_any(const Op& op, char* address, int64_t cell);
  char* address_of(const Op& op) const;
  int64_t shift_count(const Op& op) const;

#define HL_OP(name, text, operands, result, effects, fp, doc) Flow run_##name(const Op& op);
#include "ir/ops.def"
#undef HL_OP

  const Function& f_;
  const HelperTable& helpers_;
  Activation* activation_;
  SnapshotObserver* observer_;
  std::vector<int64_t> cells_;
  std::vector<int64_t> scratch_;
  uint32_t exit_id_ = kNone;
};

const Machine::Handler Machine::kHandlers[] = {
#define HL_OP(name, text, operands, result, effects, fp, doc) &Machine::run_##name,
#include "ir/ops.def"
#undef HL_OP
};

// The handlers' bodies: T is the op's type, a and b its operands.
#define T_OF(tag) typename decltype(tag)::type
#define UNARY(expression)              \
  [&]([[maybe_unused]] auto tag) {    \
    using T = T_OF(tag);              \
    [[maybe_unused]] const T a = get<T>(op, 0); \
    return static_cast<T>(expression); \
  }
#define BINARY(expression)             \
  [&](auto tag) {                     \
    using T = T_OF(tag);              \
    const T a = get<T>(op, 0);        \
    const T b = get<T>(op, 1);        \
    return static_cast<T>(expression); \
  }

Flow Machine::run_Const(const Op& op) {
  cells_[op.results[0]] = op.imm;
  return Flow::kNext;
}

Flow Machine::run_Add(const Op& op) { return over_numbers(op, BINARY(static_cast<UnsignedOf<T>>(a) + static_cast<UnsignedOf<T>>(b)), BINARY(sse_add(a, b))); }
Flow Machine::run_Sub(const Op& op) { return over_numbers(op, BINARY(static_cast<UnsignedOf<T>>(a) - static_cast<UnsignedOf<T>>(b)), BINARY(sse_sub(a, b))); }
Flow Machine::run_Mul(const Op& op) { return over_numbers(op, BINARY(wrapping_mul(a, b)), BINARY(sse_mul(a, b))); }
Flow Machine::run_MulHi(const Op& op) {
  return over_ints(op, [&](auto tag) {
    using T = T_OF(tag);
    using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Product>(get<T>(op, 0)) * static_cast<Product>(get<T>(op, 1)) >> (8 * sizeof(T)));
  });
}
Flow Machine::run_Div(const Op& op) { return over_floats(op, BINARY(sse_div(a, b))); }
Flow Machine::run_Neg(const Op& op) { return over_numbers(op, UNARY(-static_cast<UnsignedOf<T>>(a)), UNARY(-a)); }
Flow Machine::run_Abs(const Op& op) {
  return over_numbers(op, UNARY(a < T(0) ? static_cast<T>(-static_cast<UnsignedOf<T>>(a)) : a), UNARY(std::fabs(a)));
}
Flow Machine::run_Sqrt(const Op& op) { return over_floats(op, UNARY(sse_sqrt(a))); }
Flow Machine::run_Floor(const Op& op) { return over_floats(op, UNARY(std::floor(quieted(a)))); }
Flow Machine::run_Ceil(const Op& op) { return over_floats(op, UNARY(std::ceil(quieted(a)))); }
Flow Machine::run_Trunc(const Op& op) { return over_floats(op, UNARY(std::trunc(quieted(a)))); }
Flow Machine::run_Rint(const Op& op) { return over_floats(op, UNARY(std::nearbyint(quieted(a)))); }
Flow Machine::run_Copysign(const Op& op) { return over_floats(op, BINARY(std::copysign(a, b))); }

Flow Machine::run_FloorDiv(const Op& op) {
  return over_numbers(
      op,
      [&](auto tag) {
        using T = T_OF(tag);
        const T a = get<T>(op, 0);
        const T b = get<T>(op, 1);
        require(b != 0, op, "division by zero");
        if constexpr (std::is_signed_v<T>) require(b != -1 || a != std::numeric_limits<T>::min(), op, "quotient out of range");
        return floor_div_int(a, b);
      },
      BINARY((require(b != 0, op, "division by zero"), floor_div_float(a, b))));
}
Flow Machine::run_FloorMod(const Op& op) {
  return over_numbers(op, BINARY((require(b != 0, op, "division by zero"), floor_mod_int(a, b))),
                      BINARY((require(b != 0, op, "division by zero"), floor_mod_float(a, b))));
}

Flow Machine::run_AddO(const Op& op) {
  return checked_ints(op, [&](auto tag, auto* r) { return !__builtin_add_overflow(get<T_OF(tag)>(op, 0), get<T_OF(tag)>(op, 1), r); });
}
Flow Machine::run_SubO(const Op& op) {
  return checked_ints(op, [&](auto tag, auto* r) { return !__builtin_sub_overflow(get<T_OF(tag)>(op, 0), get<T_OF(tag)>(op, 1), r); });
}
Flow Machine::run_MulO(const Op& op) {
  return checked_ints(op, [&](auto tag, auto* r) { return !__builtin_mul_overflow(get<T_OF(tag)>(op, 0), get<T_OF(tag)>(op, 1), r); });
}
Flow Machine::run_NegO(const Op& op) {
  return checked_ints(op, [&](auto tag, auto* r) { return !__builtin_sub_overflow(T_OF(tag){0}, get<T_OF(tag)>(op, 0), r); });
}
int64_t Machine::shift_count(const Op& op) const {
  const int64_t count = cells_[op.operands[1]];
  require(count >= 0 && count < type_size(op.type) * 8, op, "shift count out of range");
  return count;
}
Flow Machine::run_ShlO(const Op& op) {
  return checked_ints(op, [&](auto tag, auto* r) {
    using T = T_OF(tag);
    const T a = get<T>(op, 0);
    const int64_t count = shift_count(op);
    *r = static_cast<T>(static_cast<uint64_t>(a) << count);
    return static_cast<T>(*r >> count) == a;
  });
}

Flow Machine::run_And(const Op& op) { return set(op, cells_[op.operands[0]] & cells_[op.operands[1]]); }
Flow Machine::run_Or(const Op& op) { return set(op, cells_[op.operands[0]] | cells_[op.operands[1]]); }
Flow Machine::run_Xor(const Op& op) { return set(op, cells_[op.operands[0]] ^ cells_[op.operands[1]]); }
Flow Machine::run_Not(const Op& op) {
  if (op.type == Type::I1) return set(op, cells_[op.operands[0]] ^ 1);
  return over_ints(op, UNARY(~a));
}
Flow Machine::run_Shl(const Op& op) { return over_ints(op, UNARY(static_cast<uint64_t>(a) << shift_count(op))); }
Flow Machine::run_Shr(const Op& op) { return over_ints(op, UNARY(a >> shift_count(op))); }

Flow Machine::run_Eq(const Op& op) { return compare(op, [](auto a, auto b) { return a == b; }); }
Flow Machine::run_Ne(const Op& op) { return compare(op, [](auto a, auto b) { return a != b; }); }
Flow Machine::run_Lt(const Op& op) { return compare(op, [](auto a, auto b) { return a < b; }); }
Flow Machine::run_Le(const Op& op) { return compare(op, [](auto a, auto b) { return a <= b; }); }
Flow Machine::run_Gt(const Op& op) { return compare(op, [](auto a, auto b) { return a > b; }); }
Flow Machine::run_Ge(const Op& op) { return compare(op, [](auto a, auto b) { return a >= b; }); }
Flow Machine::run_IsFinite(const Op& op) {
  require(with_float(op.type, [&](auto tag) { set(op, std::isfinite(get<T_OF(tag)>(op, 0))); }), op, "no such float type");
  return Flow::kNext;
}
Flow Machine::run_Select(const Op& op) { return set(op, cells_[op.operands[cells_[op.operands[0]] != 0 ? 1 : 2]]); }

Flow Machine::run_Conv(const Op& op) {
  const Type from = f_.type_of(op.operands[0]);
  require(with_scalar(from, [&](auto from_tag) {
            using From = T_OF(from_tag);
            const From value = get<From>(op, 0);
            require(with_scalar(op.type, [&](auto to_tag) {
                      using To = T_OF(to_tag);
                      if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
                        require(truncates_into<To>(value), op, "float out of the integer's range");
                      }
                      if constexpr (std::is_same_v<To, bool>) set(op, value != From(0));
                      else set(op, static_cast<To>(value));
                    }), op, "no such type");
          }), op, "no such type");
  return Flow::kNext;
}

Flow Machine::run_FromHalf(const Op& op) { return set(op, half_to_f32(get<uint16_t>(op, 0))); }
Flow Machine::run_ToHalf(const Op& op) { return set(op, f32_to_half(get<float>(op, 0))); }
Flow Machine::run_RoundHalf(const Op& op) { return set(op, half_to_f32(f32_to_half(get<float>(op, 0)))); }

Flow Machine::run_Call(const Op& op) {
  const auto helper = static_cast<HelperId>(op.imm);
  const void* address = helpers_.at(helper);
  require(address != nullptr, op, "the helper is not available");
  const std::string_view signature = helper_info(helper).signature;
  const auto function = reinterpret_cast<void (*)()>(const_cast<void*>(address));
#define HL_CALL(text, result, ...) \
  if (signature == text) return call_as<result __VA_OPT__(, ) __VA_ARGS__>(op, function, std::index_sequence_for<__VA_ARGS__>{});
  HL_CALL("d(d)", double, double)
  HL_CALL("d(dd)", double, double, double)
  HL_CALL("d(ddd)", double, double, double, double)
  HL_CALL("d(dddd)", double, double, double, double, double)
  HL_CALL("d(dl)", double, double, int64_t)
  HL_CALL("f(f)", float, float)
  HL_CALL("f(ff)", float, float, float)
  HL_CALL("f(ffff)", float, float, float, float, float)
  HL_CALL("f(d)", float, double)
  HL_CALL("l(d)", int64_t, double)
  HL_CALL("l(l)", int64_t, int64_t)
  HL_CALL("l(ll)", int64_t, int64_t, int64_t)
  HL_CALL("d(ddl)", double, double, double, int64_t)
  HL_CALL("d(ddddl)", double, double, double, double, double, int64_t)
  HL_CALL("l(lll)", int64_t, int64_t, int64_t, int64_t)
  HL_CALL("b(ll)", bool, int64_t, int64_t)
#undef HL_CALL
  broken(op, "unknown signature");
}

template <typename T>
T field_at(int64_t object, int offset) {
  T value{};
  std::memcpy(&value, reinterpret_cast<const char*>(object) + offset, sizeof value);
  return value;
}
int64_t dim_of(int64_t array, int64_t axis) { return field_at<const int64_t*>(array, kArrayDimsOffset)[axis]; }
int64_t stride_of(int64_t array, int64_t axis) { return field_at<const int64_t*>(array, kArrayStridesOffset)[axis]; }

Flow Machine::run_ArrData(const Op& op) { return set(op, field_at<int64_t>(index(op, 0), kArrayDataOffset)); }
Flow Machine::run_ArrDim(const Op& op) { return set(op, dim_of(index(op, 0), op.imm)); }
Flow Machine::run_ArrStride(const Op& op) { return set(op, stride_of(index(op, 0), op.imm)); }
Flow Machine::run_Bound(const Op& op) {
  return checked(op, [&] {
    const int64_t i = index(op, 0);
    const int64_t n = index(op, 1);
    const int64_t wrapped = i < 0 && n >= 0 ? i + n : i;
    set(op, wrapped);
    return n >= 0 && wrapped >= 0 && wrapped < n;
  });
}

// ---- objects ----------------------------------------------------------------------------------------------------
namespace {
int64_t type_of_object(int64_t object) { return field_at<int64_t>(object, kObjectTypeOffset); }
void* pointer_of(int64_t cell) { return reinterpret_cast<void*>(cell); }
}  // namespace

Flow Machine::run_Object(const Op& op) { return set(op, reinterpret_cast<int64_t>(f_.objects[op.access].pointer)); }
Flow Machine::run_AsType(const Op& op) {
  return checked(op, [&] {
    set(op, index(op, 0));
    return type_of_object(index(op, 0)) == reinterpret_cast<int64_t>(f_.objects[op.access].pointer);
  });
}
Flow Machine::run_AsArray(const Op& op) {
  return checked(op, [&] {
    set(op, index(op, 0));
    return helpers_.objects.array_matches(pointer_of(index(op, 0)), &f_.array_types[op.access]) != 0;
  });
}
Flow Machine::run_Unbox(const Op& op) { return load_any(op, reinterpret_cast<const char*>(index(op, 0)) + op.imm); }
Flow Machine::run_UnboxInt(const Op& op) {
  return checked(op, [&] {
    const int64_t object = index(op, 0);
    const uint64_t tag = field_at<uint64_t>(object, kLongTagOffset);
    uint64_t value = 0;
    for (uint64_t k = 0; k < (tag >> 3) && k < 3; ++k) {
      const uint64_t digit = field_at<uint32_t>(object, kLongDigitsOffset + static_cast<int>(4 * k));
      if (k == 2 && digit >= (op.imm != 0 ? 16 : 8)) return false;
      value |= digit << (kLongDigitBits * k);
    }
    set(op, static_cast<int64_t>((tag & 3) == 2 ? 0 - value : value));
    return (tag >> 3) <= 3 && (op.imm == 0 || (tag & 3) != 2);
  });
}
Flow Machine::run_ListLen(const Op& op) { return set(op, field_at<int64_t>(index(op, 0), kVarSizeOffset)); }
Flow Machine::run_ListItem(const Op& op) {
  require(index(op, 1) >= 0 && index(op, 1) < field_at<int64_t>(index(op, 0), kVarSizeOffset), op, "index out of range");
  return set(op, field_at<const int64_t*>(index(op, 0), kListItemsOffset)[index(op, 1)]);
}
Flow Machine::run_TupleItem(const Op& op) {
  require(index(op, 1) >= 0 && index(op, 1) < field_at<int64_t>(index(op, 0), kVarSizeOffset), op, "index out of range");
  return set(op, field_at<int64_t>(index(op, 0), kTupleItemsOffset + static_cast<int>(8 * index(op, 1))));
}
Flow Machine::run_Droppable(const Op& op) {
  return checked(op, [&] {
    const bool expected = type_of_object(index(op, 0)) == reinterpret_cast<int64_t>(f_.objects[op.access].pointer);
    if (!expected && helpers_.objects.closed(pointer_of(index(op, 0))) == 0) return false;
    return op.imm == 0 || activation_->keep_next != activation_->keep_end || helpers_.objects.room(activation_) != 0;
  });
}
Flow Machine::run_Box(const Op& op) {
  return checked(op, [&] {
    int64_t parts[3] = {};
    for (size_t k = 0; k < op.operands.size(); ++k) parts[k] = cells_[op.operands[k]];
    void* object = helpers_.objects.box(op.imm, parts);
    set(op, reinterpret_cast<int64_t>(object));
    return object != nullptr;
  });
}
Flow Machine::run_ListSet(const Op& op) {
  require(index(op, 1) >= 0 && index(op, 1) < field_at<int64_t>(index(op, 0), kVarSizeOffset), op, "index out of range");
  helpers_.objects.list_set(activation_, pointer_of(index(op, 0)), index(op, 1), pointer_of(index(op, 2)), op.imm);
  return Flow::kNext;
}
Flow Machine::run_ListPut(const Op& op) {
  return checked(op, [&] {
    require(index(op, 1) >= 0 && index(op, 1) < field_at<int64_t>(index(op, 0), kVarSizeOffset), op, "index out of range");
    void* object = helpers_.objects.list_put(pointer_of(index(op, 0)), index(op, 1), get<double>(op, 2));
    set(op, reinterpret_cast<int64_t>(object));
    return object != nullptr;
  });
}
Flow Machine::run_Run(const Op& op) {
  observe(op);
  if (count_forced_exit(activation_)) return leave(op);
  leave(op);  // the values, for the function
  if (helpers_.objects.run(activation_, op.exit_id) != 0) return Flow::kNext;
  exit_id_ = kLeft;
  return Flow::kExit;
}
Flow Machine::run_ObjectCall(const Op& op) {
  return checked(op, [&] {
    int64_t cells[kMaxObjectCallCells] = {};
    for (size_t k = 0; k < op.operands.size(); ++k) cells[k] = cells_[op.operands[k]];
    if (helpers_.objects.calls[op.access](activation_, cells, op.imm) == 0) return false;
    set(op, cells[0]);
    return true;
  });
}
Flow Machine::run_Flush(const Op& op) {
  if (activation_->keep_next < activation_->flush_at) return Flow::kNext;
  std::vector<int64_t> retained;
  for (ValueId v : op.operands) retained.push_back(cells_[v]);
  helpers_.objects.flush(activation_, retained.data(), static_cast<int64_t>(retained.size()));
  return Flow::kNext;
}
Flow Machine::run_NextItem(const Op& op) {
  return set(op, reinterpret_cast<int64_t>(helpers_.objects.next_item(activation_, pointer_of(index(op, 0)), op.imm)));
}
Flow Machine::run_Made(const Op& op) { return set(op, activation_->out[op.imm]); }
Flow Machine::run_ListAppend(const Op& op) {
  return checked(op, [&] { return helpers_.objects.list_append(pointer_of(index(op, 0)), pointer_of(index(op, 1)), op.imm) != 0; });
}

char* Machine::element(const Op& op, size_t first_index) {
  const int64_t array = index(op, 0);
  const ArrayType& type = f_.array_types[op.access];
  char* address = field_at<char*>(array, kArrayDataOffset);
  for (size_t axis = 0; axis < type.strides.size(); ++axis) {
    const int64_t i = index(op, first_index + axis);
    const int64_t stride = stride_of(array, static_cast<int64_t>(axis));
    require(i >= 0 && i < dim_of(array, static_cast<int64_t>(axis)), op, "index out of range");
    if (type.strides[axis] == Stride::kItem) require(stride == element_size(type.elem), op, "the stride is not the item size");
    if (type.strides[axis] == Stride::kZero) require(stride == 0, op, "the stride is not zero");
    address += i * stride;
  }
  return address + op.imm * type_size(op.type);
}

Flow Machine::load_any(const Op& op, const char* address) {
  if (op.type == Type::Ptr) {
    int64_t value = 0;
    std::memcpy(&value, address, sizeof value);
    return set(op, value);
  }
  if (op.type == Type::I1) return set(op, *address != 0);
  require(with_scalar(op.type, [&](auto tag) {
            T_OF(tag) value{};
            std::memcpy(&value, address, sizeof value);
            set(op, value);
          }), op, "no such type");
  return Flow::kNext;
}
void Machine::store_any(const Op& op, char* address, int64_t cell) {
  std::memcpy(address, &cell, static_cast<size_t>(type_size(op.type)));  // little-endian: the low bytes are the value
}

Flow Machine::run_ALoad(const Op& op) { return load_any(op, element(op, 1)); }
Flow Machine::run_AStore(const Op& op) {
  store_any(op, element(op, 2), cells_[op.operands[1]]);
  return Flow::kNext;
}
Flow Machine::run_PtrAdd(const Op& op) { return set(op, index(op, 0) + index(op, 1)); }
char* Machine::address_of(const Op& op) const {
  const uint64_t offset = static_cast<uint64_t>(index(op, 1)) * op.access + static_cast<uint64_t>(op.imm);
  return reinterpret_cast<char*>(static_cast<uint64_t>(index(op, 0)) + offset);
}
Flow Machine::run_Load(const Op& op) { return load_any(op, address_of(op)); }
Flow Machine::run_Store(const Op& op) {
  store_any(op, address_of(op), cells_[op.operands[2]]);
  return Flow::kNext;
}

Flow Machine::run_Guard(const Op& op) {
  return checked(op, [&] { return cells_[op.operands[0]] != 0; });
}
Flow Machine::run_FCheck(const Op& op) {
  return checked(op, [&] {
    bool passes = false;
    require(with_float(op.type, [&](auto tag) {
              using T = T_OF(tag);
              const T result = get<T>(op, 0);
              bool any_nan = false;
              bool all_finite = true;
              for (size_t k = 1; k < op.operands.size(); ++k) {
                any_nan = any_nan || std::isnan(get<T>(op, k));
                all_finite = all_finite && std::isfinite(get<T>(op, k));
              }
              passes = !(std::isnan(result) && !any_nan) && !(std::isinf(result) && all_finite);
            }), op, "no such float type");
    return passes;
  });
}
Flow Machine::run_Poll(const Op& op) {
  return checked(op, [&] { return activation_->breaker == nullptr || *activation_->breaker == 0; });
}
Flow Machine::run_Exit(const Op& op) {
  observe(op);
  return leave(op);
}

Flow Machine::run_If(const Op& op) {
  const Block& block = *op.blocks[cells_[op.operands[0]] != 0 ? 0 : 1];
  const Flow flow = run_block(block);
  if (flow == Flow::kExit) return flow;
  assign(block.ops.back()->operands, 0, op.results, 0);
  return Flow::kNext;
}

Flow Machine::run_For(const Op& op) {
  observe(op);
  int64_t i = index(op, 0);
  const int64_t hi = index(op, 1);
  const int64_t step = index(op, 2);
  require(step != 0, op, "the step is zero");
  const Block& body = *op.blocks[0];
  bool goes_on = step > 0 ? i < hi : i > hi;
  assign(op.operands, 3, goes_on ? body.params : op.results, goes_on ? 1 : 0);
  while (goes_on) {
    cells_[body.params[0]] = i;
    if (run_block(body) == Flow::kExit) return Flow::kExit;
    const std::vector<ValueId>& yielded = body.ops.back()->operands;
    goes_on = cells_[yielded[0]] != 0 && !__builtin_add_overflow(i, step, &i) && (step > 0 ? i < hi : i > hi);
    assign(yielded, 1, goes_on ? body.params : op.results, goes_on ? 1 : 0);
  }
  return Flow::kNext;
}

Flow Machine::run_Loop(const Op& op) {
  observe(op);
  const Block& body = *op.blocks[0];
  assign(op.operands, 0, body.params, 0);
  for (;;) {
    if (run_block(body) == Flow::kExit) return Flow::kExit;
    const std::vector<ValueId>& yielded = body.ops.back()->operands;
    const bool goes_on = cells_[yielded[0]] != 0;
    assign(yielded, 1, goes_on ? body.params : op.results, 0);
    if (!goes_on) return Flow::kNext;
  }
}

Flow Machine::run_Yield(const Op&) { return Flow::kYield; }

#undef UNARY
#undef BINARY
#undef T_OF

}  // namespace

uint32_t evaluate(const Function& function, const HelperTable& helpers, Activation* activation, SnapshotObserver* observer) {
  return Machine(function, helpers, activation, observer).run();
}

}  // namespace hotloop::ir
