// The grammar of TOML 1.0.0 (toml.io/en/v1.0.0) without dates and times. Own, since knowledge files are read at every
// start and the library at hand takes ten times as long; the tests compare the two.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/toml.h"

namespace mw {

class TomlParser {
 public:
  static constexpr size_t kDepthLimit = 64;       ///< levels of tables and arrays
  static constexpr size_t kMembersLimit = 10000;  ///< members of one table

  TomlParser(std::string_view text, std::string_view path) : text_(text), path_(path) {}
  Result<Toml> parse();

 private:
  using Keys = std::vector<std::string>;

  // Each returns false after fail(): the first problem is kept.
  bool fail(std::string_view what);
  bool statement();
  bool header();
  bool key_value(Toml& table, size_t depth);
  bool keys(Keys& out);
  bool simple_key(std::string& out);
  bool value(Toml& out, size_t depth);
  bool array(Toml& out, size_t depth);
  bool inline_table(Toml& out, size_t depth);
  bool string(std::string& out);
  bool literal(std::string& out);
  bool multi_line(std::string& out, char quote);
  bool escape(std::string& out);
  bool trim_line_end();
  bool scalar(Toml& out);
  bool number(std::string_view token, Toml& out);
  bool end_of_line();
  Toml* child(Toml& table, std::string& key, bool* fresh);
  Toml* descend(Toml& table, std::string& key);
  static void finish(Toml& value);

  void skip_blanks();
  bool skip_comment();
  bool skip_lines();
  bool newline();
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(char c);
  bool take(std::string_view word);

  std::string_view text_;
  std::string_view path_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  Toml root_;
  Toml* current_ = nullptr;
  std::string problem_;
  uint32_t problem_line_ = 0;
};

}  // namespace mw
