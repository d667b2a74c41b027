#include "read/match/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

struct Regex::Inner {
  explicit Inner(const re2::StringPiece& expression, const RE2::Options& options) : re(expression, options) {}
  RE2 re;
  int rest = 0;  // number of the capture that goes on to the end of the line; 0: none does
};

Regex::Regex(std::unique_ptr<Inner> inner, std::vector<std::string> names)
    : inner_(std::move(inner)), names_(std::move(names)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

namespace {

/// The number of the capture that the expression ends with, when that capture ends with ".*" and no alternative
/// can go round them: the ".*" need not be run then, it is the rest of the line. 0 for any other expression.
int capture_of_rest(std::string_view expression) {
  if (!expression.ends_with(".*)") || expression.ends_with("\\.*)")) return 0;
  int depth = 0, captures = 0, outermost = 0;  // the capture that the last outermost group is; 0: none
  bool in_class = false, alternative = false;  // in that group
  for (size_t i = 0; i + 1 < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      if (expression[i + 1] == '^') ++i;
      if (expression[i + 1] == ']') ++i;
    } else if (c == '(') {
      const bool capture = expression[i + 1] != '?' || expression.substr(i, 4) == "(?P<";
      captures += capture ? 1 : 0;
      if (depth++ == 0) {
        outermost = capture ? captures : 0;
        alternative = false;
      }
    } else if (c == ')') {
      --depth;
    } else if (c == '|') {
      if (depth == 0) return 0;
      alternative = alternative || depth == 1;
    }
  }
  return depth == 1 && !in_class && !alternative ? outermost : 0;
}

}  // namespace

Result<Regex> Regex::compile(std::string_view expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // log bytes need not be UTF-8
  options.set_max_mem(int64_t{1} << 20);
  const int rest = capture_of_rest(expression);
  std::string shorter;
  if (rest != 0) {
    shorter = cat(expression.substr(0, expression.size() - 3), ")");
    expression = shorter;
  }
  auto inner = std::make_unique<Inner>(re2::StringPiece(expression.data(), expression.size()), options);
  inner->rest = rest;
  if (!inner->re.ok()) {
    return Error{Error::Code::kInvalid, cat("bad regular expression: ", std::string_view(inner->re.error())),
                 "use RE2 syntax, without look-around and back-references"};
  }
  const int count = inner->re.NumberOfCapturingGroups();
  if (count > kCaptureLimit) {
    return Error{Error::Code::kLimit, cat("a regular expression has ", count, " captures, at most 16 are allowed"),
                 "use (?:...) for groups that capture nothing"};
  }
  std::vector<std::string> names(static_cast<size_t>(count));
  for (const auto& [index, name] : inner->re.CapturingGroupNames()) names[static_cast<size_t>(index) - 1] = name;
  return Regex(std::move(inner), std::move(names));
}

bool Regex::match(std::string_view text, std::vector<std::string_view>& captures, size_t* end) const {
  std::array<re2::StringPiece, kCaptureLimit + 1> pieces;
  const auto count = static_cast<int>(names_.size()) + 1;
  const re2::StringPiece whole(text.data(), text.size());
  if (!inner_->re.Match(whole, 0, text.size(), RE2::UNANCHORED, pieces.data(), count)) return false;
  captures.clear();
  for (int i = 1; i < count; ++i) {
    const re2::StringPiece& piece = pieces[static_cast<size_t>(i)];
    captures.emplace_back(piece.data(), piece.size());
  }
  *end = static_cast<size_t>(pieces[0].data() + pieces[0].size() - text.data());
  if (inner_->rest == 0) return true;
  *end = std::min(text.find('\n', *end), text.size());
  std::string_view& last = captures[static_cast<size_t>(inner_->rest) - 1];
  const auto begin = static_cast<size_t>(last.data() - text.data());
  last = text.substr(begin, *end - begin);
  return true;
}

}  // namespace mw
