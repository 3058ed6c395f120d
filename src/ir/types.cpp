// The tables of ir/types.h as arrays, and look-ups by text. Needs the .def files. Promises: as in types.h.
#include "ir/types.h"

#include <cstddef>

namespace hotloop::ir {
namespace {

// The class column of dtype.def holds words (`float` among them) that cannot be enumerators by themselves.
#define HL_CLASS_none TypeClass::kNone
#define HL_CLASS_bool TypeClass::kBool
#define HL_CLASS_sint TypeClass::kSint
#define HL_CLASS_uint TypeClass::kUint
#define HL_CLASS_float TypeClass::kFloat
#define HL_CLASS_ptr TypeClass::kPtr

constexpr TypeInfo kTypes[] = {
#define HL_TYPE(name, text, size, cls) {text, size, HL_CLASS_##cls},
#include "ir/dtype.def"
#undef HL_TYPE
};

constexpr ObjectCallInfo kObjectCalls[] = {
#define HL_OBJECT_CALL(name, text, operands, result, doc) {text, operands, result, doc},
#include "ir/object_calls.def"
#undef HL_OBJECT_CALL
};
constexpr PyKindInfo kPyKinds[] = {
#define HL_PYKIND(name, text, type, parts, doc) {text, Type::type, parts},
#include "ir/pykind.def"
#undef HL_PYKIND
};

struct ExitRow {
  std::string_view name;
  std::string_view text;
};
constexpr ExitRow kExitRows[] = {
#define HL_EXIT(name, text) {#name, text},
#include "ir/exits.def"
#undef HL_EXIT
};

constexpr HelperInfo kHelpers[] = {
#define HL_HELPER(name, text, sig, owner, doc) {text, sig},
#include "ir/helpers.def"
#undef HL_HELPER
};

Type type_of_letter(char letter) {
  switch (letter) {
    case 'd': return Type::F64;
    case 'f': return Type::F32;
    case 'l': return Type::I64;
    case 'b': return Type::I1;
    default: return Type::None;
  }
}

template <typename Enum, typename Row, size_t kCount, typename Get>
bool find_row(const Row (&rows)[kCount], std::string_view text, Enum* out, Get&& get) {
  for (size_t k = 0; k < kCount; ++k) {
    if (get(rows[k]) == text) {
      *out = static_cast<Enum>(k);
      return true;
    }
  }
  return false;
}

}  // namespace

const TypeInfo& type_info(Type type) { return kTypes[static_cast<size_t>(type)]; }
bool type_from_text(std::string_view text, Type* out) {
  return find_row(kTypes, text, out, [](const TypeInfo& row) { return row.text; });
}

const PyKindInfo& pykind_info(PyKind kind) { return kPyKinds[static_cast<size_t>(kind)]; }
bool pykind_from_text(std::string_view text, PyKind* out) {
  return find_row(kPyKinds, text, out, [](const PyKindInfo& row) { return row.text; });
}

std::string_view exit_reason_text(ExitReason reason) { return kExitRows[static_cast<size_t>(reason)].text; }
std::string_view exit_reason_name(ExitReason reason) { return kExitRows[static_cast<size_t>(reason)].name; }
bool exit_reason_from_name(std::string_view name, ExitReason* out) {
  return find_row(kExitRows, name, out, [](const ExitRow& row) { return row.name; });
}

const HelperInfo& helper_info(HelperId id) { return kHelpers[static_cast<size_t>(id)]; }
bool helper_from_text(std::string_view text, HelperId* out) {
  return find_row(kHelpers, text, out, [](const HelperInfo& row) { return row.text; });
}
// A signature is result letter, '(', argument letters, ')'.
Type helper_result_type(HelperId id) { return type_of_letter(helper_info(id).signature[0]); }
Type helper_argument_type(HelperId id, int index) {
  return type_of_letter(helper_info(id).signature[static_cast<size_t>(index) + 2]);
}
int helper_argument_count(HelperId id) { return static_cast<int>(helper_info(id).signature.size()) - 3; }

const ObjectCallInfo& object_call_info(ObjectCallId id) { return kObjectCalls[static_cast<size_t>(id)]; }
bool object_call_from_text(std::string_view text, ObjectCallId* out) {
  return find_row(kObjectCalls, text, out, [](const ObjectCallInfo& row) { return row.text; });
}

}  // namespace hotloop::ir
