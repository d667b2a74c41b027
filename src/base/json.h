// JSON: a writer that appends to a string, and a small document for what we read back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mw {

/// Appends JSON to a string it is given. Commas are its business; balance is checked by MW_CHECK in the destructor.
/// Strings are made valid UTF-8. A non-finite number is written as null, as JSON has no other word for it.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& number(double value);
  JsonWriter& integer(int64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  ///< `json` must be one valid value

 private:
  void before_value();
  std::string& out_;
  std::vector<bool> first_;  // one per open container: nothing written in it yet
  bool after_key_ = false;
};

/// A parsed JSON value that owns its text. Numbers keep NaN and Infinity when the text (as Python writes it) has them.
class Json {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_number() const { return kind_ == Kind::kNumber; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool boolean() const { return number_ != 0; }
  double number() const { return number_; }
  int64_t integer() const { return integer_; }  ///< exact where the text was an integer that fits
  const std::string& string() const { return string_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }
  const Json* find(std::string_view name) const;  ///< member of an object, or nullptr
  double number_or(std::string_view name, double otherwise) const;
  int64_t integer_or(std::string_view name, int64_t otherwise) const;
  bool boolean_or(std::string_view name, bool otherwise) const;
  std::string string_or(std::string_view name, std::string_view otherwise) const;

  /// Parses one document; accepts bare NaN, Infinity, -Infinity. Depth is limited to 64 levels.
  static Result<Json> parse(std::string_view text);

 private:
  friend class JsonBuilder;
  Kind kind_ = Kind::kNull;
  double number_ = 0;
  int64_t integer_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

/// Streaming reader for metric records: calls back for every leaf with its path joined by '/' ("critic/score" or
/// nested {"critic":{"score":…}} alike). Returns false when `text` is not one JSON value; what was reported before
/// the fault stays reported. Array elements get their index as path piece.
class JsonLeaves {
 public:
  virtual ~JsonLeaves() = default;
  virtual void number(std::string_view path, double value) = 0;
  virtual void string(std::string_view path, std::string_view value) = 0;
  virtual void boolean(std::string_view path, bool value) { number(path, value ? 1 : 0); }
  /// Asked at the start of every array: false leaves out all that is in it.
  virtual bool enter_array(std::string_view path) { return static_cast<void>(path), true; }
};
bool for_each_leaf(std::string_view text, JsonLeaves& leaves);

}  // namespace mw
