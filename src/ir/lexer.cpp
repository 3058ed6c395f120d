// The lexer of the IR's text form. Needs ir/lexer.h. Promises: as there; linear in the text.
#include "ir/lexer.h"

#include <cstdio>

namespace hotloop::ir {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_space();
      tokens.push_back(next());
    } while (tokens.back().kind != TokenKind::kEnd && tokens.back().kind != TokenKind::kBad);
    if (tokens.back().kind == TokenKind::kBad) tokens.push_back(Token{TokenKind::kEnd, "", line_, column()});
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ';') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n') {
        ++at_;
        ++line_;
        line_start_ = at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  Token next() {
    Token token;
    token.line = line_;
    token.column = column();
    if (at_ == text_.size()) return token;
    const char c = peek();
    if (c == '"') {
      string(token);
    } else if (is_letter(c)) {
      token.kind = TokenKind::kWord;
      word(token);
    } else if (is_digit(c) || (c == '-' && (is_digit(peek(1)) || peek(1) == 'i'))) {
      token.kind = TokenKind::kNumber;
      number(token);
    } else if (!sigil(c, token) && !punctuation(c, token)) {
      token.kind = TokenKind::kBad;
      token.text = "unexpected character";
    }
    return token;
  }

  void word(Token& token) {
    while (is_word(peek())) token.text += text_[at_++];
  }

  void number(Token& token) {
    token.text += text_[at_++];  // the sign or first digit
    while (is_word(peek()) || ((peek() == '-' || peek() == '+') && exponent_before(token.text))) token.text += text_[at_++];
  }
  static bool exponent_before(const std::string& text) {
    return text.back() == 'e' && text.find('x') == std::string::npos;
  }

  bool sigil(char c, Token& token) {
    switch (c) {
      case '%': token.kind = TokenKind::kValue; break;
      case '!': token.kind = TokenKind::kSnapshot; break;
      case '$': token.kind = TokenKind::kObject; break;
      case '@': token.kind = TokenKind::kArray; break;
      case '#': token.kind = TokenKind::kLine; break;
      default: return false;
    }
    if (!is_word(peek(1))) return false;
    ++at_;
    word(token);
    return true;
  }

  bool punctuation(char c, Token& token) {
    token.kind = TokenKind::kPunct;
    if (c == '-' && peek(1) == '>') {
      token.text = "->";
      at_ += 2;
      return true;
    }
    if (std::string_view("{}()[],:=").find(c) == std::string_view::npos) return false;
    token.text = c;
    ++at_;
    return true;
  }

  void string(Token& token) {
    token.kind = TokenKind::kString;
    ++at_;
    while (peek() != '"') {
      if (at_ == text_.size() || peek() == '\n') return bad(token, "string without end");
      char c = text_[at_++];
      if (c == '\\' && !escape(c)) return bad(token, "unknown escape in string");
      token.text += c;
    }
    ++at_;
  }

  bool escape(char& c) {
    if (at_ == text_.size()) return false;
    switch (text_[at_++]) {
      case 'n': c = '\n'; return true;
      case 't': c = '\t'; return true;
      case '"': c = '"'; return true;
      case '\\': c = '\\'; return true;
      case 'x': {
        const int high = hex_digit(peek());
        const int low = high < 0 ? -1 : hex_digit(peek(1));
        if (low < 0) return false;
        at_ += 2;
        c = static_cast<char>(high * 16 + low);
        return true;
      }
      default: return false;
    }
  }

  static void bad(Token& token, const char* what) {
    token.kind = TokenKind::kBad;
    token.text = what;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace hotloop::ir
