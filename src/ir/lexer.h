// Splits the IR's text form into tokens. Internal to src/ir (text.cpp's parser).
// Needs nothing. Promises: every token knows its line and column; the list always ends in kEnd; a bad character or an unfinished string
// is one kBad token, whose text says what is wrong.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hotloop::ir {

enum class TokenKind : uint8_t {
  kWord,      // region, add.f64, np.int8
  kValue,     // %5, %i       (text without the sigil)
  kSnapshot,  // !2
  kObject,    // $0
  kArray,     // @1
  kLine,      // #12
  kNumber,    // 12, -1.5e-3, 0x1f, -inf
  kString,    // "..." (text unescaped)
  kPunct,     // { } ( ) [ ] , : = ->
  kEnd,
  kBad,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;
};

// `;` starts a comment up to the end of the line; white space only separates.
std::vector<Token> tokenize(std::string_view text);

// The inverse of a string token: quotes and escapes.
std::string quote(std::string_view text);

}  // namespace hotloop::ir
