// The text form of the IR: print and parse from one description (the op table).
// Needs ir/ir.h. Promises: parse(print(f)) prints the same text again; parse errors name line and column; object pointers are not part of the text.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "ir/ir.h"

namespace hotloop::ir {

std::string print(const Function& function);
std::string print(const Function& function, const Op& op);  // one op, without its blocks' bodies, for messages

// Null on error, with *error = "line 3:14: ...".
std::unique_ptr<Function> parse(std::string_view text, std::string* error);

// A constant of this type, exactly: decimal (floats: the shortest that reads back), true, false, inf, nan, hexadecimal bits of other NaNs.
std::string constant_text(Type type, int64_t bits);
bool parse_constant(Type type, std::string_view text, int64_t* bits);

}  // namespace hotloop::ir
