// What a line shape captured, with its constants behind: private to the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "read/books/dialect.h"
#include "read/match/regex.h"

namespace mw {

class Fields {
 public:
  Fields(const Shape& shape, const Regex* regex, const std::vector<std::string_view>& captures)
      : shape_(shape), regex_(regex), captures_(captures) {}

  /// The capture of that name, else the constant; "" when there is neither.
  std::string_view text(std::string_view name) const;
  bool has(std::string_view name) const { return !text(name).empty(); }
  /// Numbers may have thousands separators and the endings k, K, M, G.
  double number(std::string_view name, double otherwise) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name) const { return text(name) == "true"; }

  const std::vector<std::string>& names() const;
  std::string_view capture(size_t index) const { return captures_[index]; }
  static bool reserved(std::string_view name);

 private:
  const Shape& shape_;
  const Regex* regex_;
  const std::vector<std::string_view>& captures_;
};

/// A number with thousands separators or one of the endings k, K, M, G. False when `text` is none.
bool loose_number(std::string_view text, double* value);

}  // namespace mw
