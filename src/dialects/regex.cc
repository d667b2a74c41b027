#include "dialects/regex.h"

#include <re2/re2.h>

#include <array>

#include "base/text.h"

namespace mw {

struct Regex::Inner {
  explicit Inner(const re2::StringPiece& expression, const RE2::Options& options) : re(expression, options) {}
  RE2 re;
};

Regex::Regex(std::unique_ptr<Inner> inner, std::vector<std::string> names)
    : inner_(std::move(inner)), names_(std::move(names)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // log bytes need not be UTF-8
  options.set_max_mem(int64_t{1} << 20);
  auto inner = std::make_unique<Inner>(re2::StringPiece(expression.data(), expression.size()), options);
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
  return true;
}

}  // namespace mw
