// A regular expression with named captures. The only door to RE2 besides the pattern set.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// Linear-time matching (RE2: neither look-around nor back-references). Immutable; matching is thread-safe.
class Regex {
 public:
  static constexpr int kCaptureLimit = 16;  ///< captures of one expression, named or not

  /// An error says what is wrong with the expression.
  static Result<Regex> compile(std::string_view expression);
  /// For an expression of the built-in knowledge, which the tests compile: it is compiled at the first match, as a log
  /// needs few of them. One that is no expression matches nothing, and has the names that it seems to have.
  static Regex compile_later(std::string_view expression);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// Names of the captures, in order; "" for one without a name.
  const std::vector<std::string>& names() const { return names_; }
  /// Searches `text` (use ^ to anchor). On success `captures` holds one view per name() (empty when it took no part;
  /// data() is then nullptr), and `end` the place after the match.
  bool match(std::string_view text, std::vector<std::string_view>& captures, size_t* end) const;

 private:
  struct Inner;
  Regex(std::unique_ptr<Inner> inner, std::vector<std::string> names);
  std::unique_ptr<Inner> inner_;
  std::vector<std::string> names_;
};

}  // namespace mw
