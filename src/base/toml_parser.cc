#include "base/toml_parser.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "base/utf8.h"

namespace mw {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Control characters other than tab may not stand in strings and comments.
bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

/// Removes the underscores of a number; false when one is not between two digits.
bool plain_digits(std::string_view token, std::string& out) {
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '_') {
      out.push_back(token[i]);
      continue;
    }
    const auto hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
    if (i == 0 || i + 1 == token.size() || !hex(token[i - 1]) || !hex(token[i + 1])) return false;
  }
  return true;
}

/// digits ["." digits] [e [sign] digits], no leading zero; `whole`: it is an integer.
bool is_decimal(std::string_view text, bool& whole) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - begin;
  };
  const size_t first = digits();
  if (first == 0 || (first > 1 && text[0] == '0')) return false;
  whole = i == text.size();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

bool parse_radix(std::string_view digits, int radix, int64_t& out) {
  if (digits.empty() || digits.size() > 64) return false;
  uint64_t value = 0;
  for (const char c : digits) {
    const int digit = is_digit(c)              ? c - '0'
                      : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                      : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                               : 99;
    if (digit >= radix || value > (UINT64_MAX >> 5)) return false;
    value = value * static_cast<uint64_t>(radix) + static_cast<uint64_t>(digit);
  }
  if (value > static_cast<uint64_t>(INT64_MAX)) return false;
  out = static_cast<int64_t>(value);
  return true;
}

}  // namespace

Result<Toml> TomlParser::parse() {
  current_ = &root_;
  root_.line_ = 1;
  bool fine = true;
  if (sanitize_utf8(text_) != text_) fine = fail("not valid UTF-8");
  if (fine && text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;  // byte order mark
  while (fine && (fine = skip_lines()) && at_ < text_.size()) fine = statement();
  if (!fine) {
    return Error{Error::Code::kInvalid, cat(path_, ":", problem_line_, ": ", problem_),
                 "mend that line; see docs/formats/"};
  }
  finish(root_);
  return std::move(root_);
}

bool TomlParser::fail(std::string_view what) {
  if (problem_.empty()) {
    problem_ = what;
    problem_line_ = line_;
  }
  return false;
}

bool TomlParser::statement() {
  if (peek() == '[') return header() && end_of_line();
  return key_value(*current_, 1) && end_of_line();
}

bool TomlParser::header() {
  const bool many = take("[[");
  if (!many) take('[');
  const uint32_t line = line_;
  Keys path;
  if (!keys(path)) return false;
  if (!take(many ? std::string_view("]]") : std::string_view("]"))) return fail("a table header is not closed");
  if (path.size() >= kDepthLimit) return fail("nested too deeply");
  Toml* table = &root_;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    table = descend(*table, path[i]);
    if (table == nullptr) return false;
  }
  bool fresh = false;
  const std::string name = path.back();
  Toml* last = child(*table, path.back(), &fresh);
  if (last == nullptr) return false;
  if (many) {
    if (fresh) {
      last->kind_ = Toml::Kind::kArray;
      last->line_ = line;
    } else if (!last->is_array() || last->closed_) {
      return fail(cat("\"", clip(name, 80), "\" is defined already"));
    }
    last->items_.emplace_back();
    current_ = &last->items_.back();
  } else {
    if (!fresh && (!last->is_table() || last->closed_ || last->defined_)) {
      return fail(cat("\"", clip(name, 80), "\" is defined already"));
    }
    current_ = last;
  }
  current_->defined_ = true;
  current_->line_ = line;
  return true;
}

/// The member `key`, made when it is not there.
Toml* TomlParser::child(Toml& table, std::string& key, bool* fresh) {
  for (auto& [name, member] : table.members_) {
    if (name == key) {
      *fresh = false;
      return &member;
    }
  }
  if (table.members_.size() >= kMembersLimit) {
    fail("a table has too many members");
    return nullptr;
  }
  table.members_.emplace_back(std::move(key), Toml());
  table.members_.back().second.line_ = line_;
  *fresh = true;
  return &table.members_.back().second;
}

/// The table that a header goes through: of an array of tables the last.
Toml* TomlParser::descend(Toml& table, std::string& key) {
  bool fresh = false;
  const std::string name = key;
  Toml* next = child(table, key, &fresh);
  if (next == nullptr) return nullptr;
  if (next->is_array() && !next->closed_ && !next->items_.empty()) return &next->items_.back();
  if (!next->is_table() || next->closed_) {
    fail(cat("\"", clip(name, 80), "\" is no table"));
    return nullptr;
  }
  return next;
}

bool TomlParser::key_value(Toml& table, size_t depth) {
  Keys path;
  if (!keys(path)) return false;
  if (depth + path.size() >= kDepthLimit) return fail("nested too deeply");
  if (!take('=')) return fail("\"=\" is expected after a key");
  Toml* place = &table;
  bool fresh = false;
  for (size_t i = 0; i < path.size(); ++i) {
    const std::string name = path[i];
    Toml* next = child(*place, path[i], &fresh);
    if (next == nullptr) return false;
    const bool last = i + 1 == path.size();
    if (!fresh && (last || !next->is_table() || !next->dotted_ || next->closed_)) {
      return fail(cat("\"", clip(name, 80), "\" is defined already"));
    }
    if (!last) next->dotted_ = next->defined_ = true;
    place = next;
  }
  skip_blanks();
  place->line_ = line_;
  return value(*place, depth + path.size());
}

bool TomlParser::keys(Keys& out) {
  do {
    skip_blanks();
    if (!simple_key(out.emplace_back())) return false;
    skip_blanks();
  } while (take('.'));
  return true;
}

bool TomlParser::simple_key(std::string& out) {
  if (peek() == '"') return string(out);
  if (peek() == '\'') return literal(out);
  const size_t begin = at_;
  while (is_bare(peek())) ++at_;
  if (at_ == begin) return fail("a key is expected");
  out = text_.substr(begin, at_ - begin);
  return true;
}

bool TomlParser::value(Toml& out, size_t depth) {
  if (depth >= kDepthLimit) return fail("nested too deeply");
  out.line_ = line_;
  const char c = peek();
  if (c == '[') return array(out, depth);
  if (c == '{') return inline_table(out, depth);
  if (c != '"' && c != '\'') return scalar(out);
  out.kind_ = Toml::Kind::kString;
  if (take("\"\"\"")) return multi_line(out.text_, '"');
  if (take("'''")) return multi_line(out.text_, '\'');
  return c == '"' ? string(out.text_) : literal(out.text_);
}

bool TomlParser::array(Toml& out, size_t depth) {
  out.kind_ = Toml::Kind::kArray;
  out.closed_ = true;
  take('[');
  while (true) {
    if (!skip_lines()) return false;
    if (take(']')) return true;
    if (!value(out.items_.emplace_back(), depth + 1) || !skip_lines()) return false;
    if (take(']')) return true;
    if (!take(',')) return fail("\",\" or \"]\" is expected in an array");
  }
}

bool TomlParser::inline_table(Toml& out, size_t depth) {
  out.kind_ = Toml::Kind::kTable;
  take('{');
  skip_blanks();
  if (!take('}')) {
    do {
      if (!key_value(out, depth + 1)) return false;
      skip_blanks();
    } while (take(','));
    if (!take('}')) return fail("\",\" or \"}\" is expected in an inline table");
  }
  out.closed_ = true;
  return true;
}

bool TomlParser::string(std::string& out) {
  take('"');
  while (true) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && !is_control(text_[at_])) ++at_;
    out.append(text_.substr(begin, at_ - begin));
    if (take('"')) return true;
    if (peek() != '\\') return fail("a string is not closed");
    if (!escape(out)) return false;
  }
}

bool TomlParser::literal(std::string& out) {
  take('\'');
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '\'' && !is_control(text_[at_])) ++at_;
  out = text_.substr(begin, at_ - begin);
  return take('\'') || fail("a string is not closed");
}

bool TomlParser::multi_line(std::string& out, char quote) {
  newline();  // one right after the opening quotes is not part of the string
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == quote && peek(1) == quote && peek(2) == quote) {
      size_t quotes = 3;
      while (quotes < 5 && peek(quotes) == quote) ++quotes;  // up to two may stand before the closing three
      out.append(quotes - 3, quote);
      at_ += quotes;
      return true;
    }
    if (c == '\\' && quote == '"') {
      if (!trim_line_end() && !escape(out)) return false;
    } else if (newline()) {
      out.push_back('\n');
    } else if (is_control(c)) {
      return fail("a control character in a string");
    } else {
      out.push_back(c);
      ++at_;
    }
  }
  return fail("a string is not closed");
}

/// A backslash that ends its line swallows all blanks and line ends up to the next character.
bool TomlParser::trim_line_end() {
  const size_t before = at_;
  ++at_;
  skip_blanks();
  if (!newline()) {
    at_ = before;
    return false;
  }
  do {
    skip_blanks();
  } while (newline());
  return true;
}

bool TomlParser::escape(std::string& out) {
  static constexpr std::string_view kFrom = "btnfr\"\\";
  static constexpr std::string_view kTo = "\b\t\n\f\r\"\\";
  ++at_;
  const char c = peek();
  if (const size_t known = kFrom.find(c); c != '\0' && known != std::string_view::npos) {
    out.push_back(kTo[known]);
    ++at_;
    return true;
  }
  if (c != 'u' && c != 'U') return fail("an unknown escape in a string");
  const size_t digits = c == 'u' ? 4 : 8;
  ++at_;
  int64_t code = 0;
  const bool fits = at_ + digits <= text_.size() && parse_radix(text_.substr(at_, digits), 16, code);
  if (!fits || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return fail("no such character");
  append_utf8(out, static_cast<uint32_t>(code));
  at_ += digits;
  return true;
}

bool TomlParser::scalar(Toml& out) {
  const size_t begin = at_;
  while (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':') ++at_;
  const std::string_view token = text_.substr(begin, at_ - begin);
  if (token.empty()) return fail("a value is expected");
  if (token == "true" || token == "false") {
    out.kind_ = Toml::Kind::kBoolean;
    out.boolean_ = token == "true";
    return true;
  }
  const bool date =
      token.size() >= 5 && is_digit(token[0]) && is_digit(token[1]) && (token[2] == ':' || token[4] == '-');
  if (date) return fail("dates and times are not used here; write a string");
  return number(token, out) || fail(cat("no value: ", clip(token, 80)));
}

bool TomlParser::number(std::string_view token, Toml& out) {
  const bool sign = token[0] == '+' || token[0] == '-';
  std::string digits;
  if (!plain_digits(token.substr(sign ? 1 : 0), digits)) return false;
  if (!sign && digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o' || digits[1] == 'b')) {
    out.kind_ = Toml::Kind::kInteger;
    if (token[2] == '_') return false;
    return parse_radix(std::string_view(digits).substr(2),
                       digits[1] == 'x'   ? 16
                       : digits[1] == 'o' ? 8
                                          : 2,
                       out.integer_);
  }
  bool whole = false;
  const bool special = digits == "inf" || digits == "nan";
  if (!special && !is_decimal(digits, whole)) return false;
  if (token[0] == '-') digits.insert(digits.begin(), '-');
  if (whole) {
    const std::optional<int64_t> integer = parse_int(digits);
    out.kind_ = Toml::Kind::kInteger;
    out.integer_ = integer.value_or(0);
    return integer.has_value();
  }
  const std::optional<double> real = parse_double(digits);
  out.kind_ = Toml::Kind::kFloat;
  out.number_ = real.value_or(0);
  return real.has_value();
}

bool TomlParser::end_of_line() {
  skip_blanks();
  if (!skip_comment()) return false;
  return at_ == text_.size() || newline() || fail("the line should end here");
}

void TomlParser::skip_blanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

bool TomlParser::skip_comment() {
  if (peek() != '#') return true;
  while (at_ < text_.size() && text_[at_] != '\n') {
    if (is_control(text_[at_]) && !(text_[at_] == '\r' && peek(1) == '\n')) return fail("a control character");
    ++at_;
  }
  if (at_ > 0 && at_ < text_.size() && text_[at_ - 1] == '\r') --at_;
  return true;
}

/// Blanks, comments and line ends.
bool TomlParser::skip_lines() {
  do {
    skip_blanks();
    if (!skip_comment()) return false;
  } while (newline());
  return true;
}

bool TomlParser::newline() {
  if (!take('\n') && !take("\r\n")) return false;
  ++line_;
  return true;
}

bool TomlParser::take(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool TomlParser::take(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

/// Members by key: a promise of Toml::members(). Depth is bounded by kDepthLimit.
void TomlParser::finish(Toml& value) {
  std::vector<Toml::Member>& members = value.members_;
  const auto before = [](const Toml::Member& a, const Toml::Member& b) { return a.first < b.first; };
  if (!std::is_sorted(members.begin(), members.end(), before)) {
    std::vector<Toml::Member*> order;  // a member is large: each is moved once
    for (Toml::Member& member : members) order.push_back(&member);
    std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return before(*a, *b); });
    std::vector<Toml::Member> sorted;
    sorted.reserve(members.size());
    for (Toml::Member* member : order) sorted.push_back(std::move(*member));
    members = std::move(sorted);
  }
  for (auto& [key, member] : value.members_) finish(member);
  for (Toml& item : value.items_) finish(item);
}

}  // namespace mw
