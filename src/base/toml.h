// TOML files as a tree of plain values with line numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mw {

/// Largest TOML file that is read, in bytes.
constexpr size_t kTomlBytesLimit = size_t{8} << 20;

/// One value of a TOML document. Dates and times are refused: nothing here uses them.
class Toml {
 public:
  enum class Kind { kTable, kArray, kString, kInteger, kFloat, kBoolean };
  using Member = std::pair<std::string, Toml>;

  /// Parses a whole document into its root table. `path` is only for messages; an error reads "path:line: what".
  static Result<Toml> parse(std::string_view text, std::string_view path);

  Kind kind() const { return kind_; }
  bool is_table() const { return kind_ == Kind::kTable; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }
  /// "a table", "an array", "a string", ...: for messages.
  std::string_view kind_name() const;
  /// 1-based line of the document on which the value begins; 0 when the parser does not know.
  uint32_t line() const { return line_; }

  /// The members of a table, by key in byte order; empty for anything else.
  const std::vector<Member>& members() const { return members_; }
  /// The items of an array, in order; empty for anything else.
  const std::vector<Toml>& items() const { return items_; }
  /// The member of that name; nullptr when there is none or this is not a table.
  const Toml* find(std::string_view key) const;

  // Asked of another kind, these give an empty string, 0 or false. number() also takes integers.
  const std::string& text() const { return text_; }
  int64_t integer() const { return integer_; }
  double number() const;
  bool boolean() const { return boolean_; }

  // Members of a table with a default: `fallback` when the key is missing or its value is of another kind.
  std::string text_or(std::string_view key, std::string_view fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;

  /// The strings of an array, or the one of a string. An error for anything else, with `path` and line in it.
  Result<std::vector<std::string>> texts(std::string_view path) const;

  /// An error "path:line: what" at this value.
  Error error(std::string_view path, std::string_view what) const;
  /// An error when this table has a member that is not in `known` (misspelt keys must not pass in silence).
  Result<void> check_keys(std::string_view path, const std::vector<std::string_view>& known) const;

 private:
  friend class TomlParser;
  Kind kind_ = Kind::kTable;
  bool boolean_ = false;
  // Used while parsing: what may no longer be added to, was given a header, was made by a dotted key.
  bool closed_ = false, defined_ = false, dotted_ = false;
  uint32_t line_ = 0;
  int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<Member> members_;
  std::vector<Toml> items_;
};

}  // namespace mw
