// Machine types (dtype.def), Python kinds (pykind.def), exit reasons (exits.def), helper ids (helpers.def), calls on objects
// (object_calls.def) as enums with their texts.
// Needs nothing. Promises: each enum is exactly its table; *_text() never returns null; *_from_text() says whether it found the text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hotloop::ir {

enum class Type : uint8_t {
#define HL_TYPE(name, text, size, cls) name,
#include "ir/dtype.def"
#undef HL_TYPE
};
enum class TypeClass : uint8_t { kNone, kBool, kSint, kUint, kFloat, kPtr };

// What a value is to the Python program.
enum class PyKind : uint8_t {
#define HL_PYKIND(name, text, type, parts, doc) name,
#include "ir/pykind.def"
#undef HL_PYKIND
};

enum class ExitReason : uint8_t {
#define HL_EXIT(name, text) name,
#include "ir/exits.def"
#undef HL_EXIT
};
inline constexpr int kExitReasonCount = 0
#define HL_EXIT(name, text) +1
#include "ir/exits.def"
#undef HL_EXIT
    ;

enum class HelperId : uint16_t {
#define HL_HELPER(name, text, sig, owner, doc) name,
#include "ir/helpers.def"
#undef HL_HELPER
};
inline constexpr int kHelperCount = 0
#define HL_HELPER(name, text, sig, owner, doc) +1
#include "ir/helpers.def"
#undef HL_HELPER
    ;

enum class ObjectCallId : uint16_t {
#define HL_OBJECT_CALL(name, text, operands, result, doc) name,
#include "ir/object_calls.def"
#undef HL_OBJECT_CALL
};
inline constexpr int kObjectCallCount = 0
#define HL_OBJECT_CALL(name, text, operands, result, doc) +1
#include "ir/object_calls.def"
#undef HL_OBJECT_CALL
    ;
inline constexpr int kObjectCallFlags = 48;   // the flags of an object_call are above so many bits of its imm,
inline constexpr int kObjectCallKindBits = 6;  // and each of its values has so many
inline constexpr size_t kMaxObjectCallCells = 8;
inline constexpr size_t kMaxFlushCells = 16;    // operands of a flush

struct TypeInfo {
  std::string_view text;
  int size;  // bytes
  TypeClass cls;
};
const TypeInfo& type_info(Type type);
inline int type_size(Type type) { return type_info(type).size; }
inline bool is_float(Type type) { return type == Type::F32 || type == Type::F64; }
inline bool is_signed(Type type) { return type_info(type).cls == TypeClass::kSint; }
inline bool is_unsigned(Type type) { return type_info(type).cls == TypeClass::kUint; }
inline bool is_int(Type type) { return is_signed(type) || is_unsigned(type); }
bool type_from_text(std::string_view text, Type* out);

struct PyKindInfo {
  std::string_view text;
  Type part_type;
  int parts;
};
const PyKindInfo& pykind_info(PyKind kind);
bool pykind_from_text(std::string_view text, PyKind* out);
// How an array element of this kind lies in memory: `parts` values of this machine type, one behind the other.
inline Type element_type(PyKind kind) { return kind == PyKind::NpFloat16 ? Type::U16 : pykind_info(kind).part_type; }
inline int element_size(PyKind kind) { return type_size(element_type(kind)) * pykind_info(kind).parts; }

std::string_view exit_reason_text(ExitReason reason);
std::string_view exit_reason_name(ExitReason reason);  // the enumerator's name, used in the text form
bool exit_reason_from_name(std::string_view name, ExitReason* out);

struct HelperInfo {
  std::string_view text;
  std::string_view signature;  // "d(dd)": see helpers.def
};
const HelperInfo& helper_info(HelperId id);
bool helper_from_text(std::string_view text, HelperId* out);
Type helper_result_type(HelperId id);
Type helper_argument_type(HelperId id, int index);
int helper_argument_count(HelperId id);

struct ObjectCallInfo {
  std::string_view text;
  std::string_view operands;  // see object_calls.def
  char result;
  std::string_view doc;
};
const ObjectCallInfo& object_call_info(ObjectCallId id);
bool object_call_from_text(std::string_view text, ObjectCallId* out);

}  // namespace hotloop::ir
