#include "read/match/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "read/match/bar_match.h"
#include "read/match/required_literals.h"
#include "read/match/syntax_walk.h"

namespace mw {
namespace {

/// The literal that each match of the expression begins with; "" where none is seen.
std::string literal_begin(std::string_view expression) {
  constexpr std::string_view kMeans = "\\^$.[|()?*+{", kRepeats = "?*+{", kItself = "\\^$.[]|()?*+{}-/#:=";
  int depth = 0;
  bool alternative = false;
  walk_syntax(expression, [&](size_t at) {
    depth += expression[at] == '(' ? 1 : expression[at] == ')' ? -1 : 0;
    alternative = alternative || (depth == 0 && expression[at] == '|');
  });
  std::string begin;
  size_t at = 0;
  while (!alternative && at < expression.size()) {
    const bool escaped = expression[at] == '\\' && at + 1 < expression.size() &&
                         kItself.find(expression[at + 1]) != std::string_view::npos;
    if (!escaped && kMeans.find(expression[at]) != std::string_view::npos) break;
    begin.push_back(expression[at + (escaped ? 1 : 0)]);
    at += escaped ? 2 : 1;
  }
  if (!begin.empty() && at < expression.size() && kRepeats.find(expression[at]) != std::string_view::npos) {
    begin.pop_back();  // it need not be there
  }
  return begin;
}

}  // namespace

struct Regex::Inner {
  explicit Inner(std::string_view text);
  /// False where `text` lacks a literal without which nothing matches: then the expression need not be compiled.
  bool may_match(std::string_view text) {
    std::call_once(once_read, [this] { required = required_literals(expression); });
    const std::vector<std::string>& any = required.any;
    const auto held = [text](const std::string& literal) { return contains(text, literal); };
    return (any.empty() || std::any_of(any.begin(), any.end(), held)) && holds_also(text, required);
  }
  const RE2& re() {
    std::call_once(once, [this] {
      compiled.emplace(named ? expression : without_names(expression), options());
      begin = literal_begin(expression);
    });
    return *compiled;
  }
  bool find(std::string_view text, re2::StringPiece* pieces, int count);
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(RE2::Options::EncodingLatin1);  // log bytes need not be UTF-8
    options.set_max_mem(int64_t{1} << 20);
    return options;
  }

  std::string expression;
  std::string begin;  // of each match; "" where none is known
  int rest = 0;       // number of the capture that goes on to the end of the line; 0: none does
  std::once_flag once_read, once;
  RequiredLiterals required;
  bool named = true;  // RE2 is to know the names of the captures
  bool bar = false;   // the expression is kBarExpression
  std::optional<RE2> compiled;
};

Regex::Regex(std::unique_ptr<Inner> inner, std::vector<std::string> names)
    : inner_(std::move(inner)), names_(std::move(names)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

namespace {

/// The names of the captures, in order; "" for one without a name.
std::vector<std::string> capture_names(std::string_view expression) {
  std::vector<std::string> names;
  walk_syntax(expression, [&](size_t at) {
    if (expression[at] != '(') return;
    if (expression.substr(at, 4) == "(?P<") {
      const std::string_view name = expression.substr(at + 4);
      names.emplace_back(name.substr(0, name.find('>')));
    } else if (expression.substr(at + 1, 1) != "?") {
      names.emplace_back();
    }
  });
  return names;
}

/// The number of the capture that the expression ends with, when that capture ends with ".*" and no alternative
/// can go round them: the ".*" need not be run then, it is the rest of the line. 0 for any other expression.
int capture_of_rest(std::string_view expression) {
  if (!expression.ends_with(".*)") || expression.ends_with("\\.*)")) return 0;
  int depth = 0, captures = 0, outermost = 0;  // the capture that the last outermost group is; 0: none
  bool alternative = false, outside = false;   // in that group; outside of all groups
  const std::string_view before_end = expression.substr(0, expression.size() - 1);
  const bool in_class = walk_syntax(before_end, [&](size_t at) {
    const char c = expression[at];
    if (c == '(') {
      const bool capture = expression[at + 1] != '?' || expression.substr(at, 4) == "(?P<";
      captures += capture ? 1 : 0;
      if (depth++ == 0) {
        outermost = capture ? captures : 0;
        alternative = false;
      }
    } else if (c == ')') {
      --depth;
    } else if (c == '|') {
      outside = outside || depth == 0;
      alternative = alternative || depth == 1;
    }
  });
  return depth == 1 && !in_class && !alternative && !outside ? outermost : 0;
}

}  // namespace

/// With a place to begin at, RE2 goes through the text once, for the captures. Without one it does so twice before, for
/// the end of a match and for its beginning.
bool Regex::Inner::find(std::string_view text, re2::StringPiece* pieces, int count) {
  const RE2& compiled_now = re();
  const re2::StringPiece whole(text.data(), text.size());
  if (!compiled_now.ok()) return false;
  if (begin.size() < 2) return compiled_now.Match(whole, 0, text.size(), RE2::UNANCHORED, pieces, count);
  const size_t at = find_part(text, begin);
  if (at == std::string_view::npos) return false;
  // Only the first place: text may hold it thousands of times.
  return compiled_now.Match(whole, at, text.size(), RE2::ANCHOR_START, pieces, count) ||
         compiled_now.Match(whole, at + 1, text.size(), RE2::UNANCHORED, pieces, count);
}

Regex::Inner::Inner(std::string_view text) : expression(text), rest(capture_of_rest(text)) {
  if (rest != 0) expression.replace(expression.size() - 3, 3, ")");
}

Regex Regex::compile_later(std::string_view expression) {
  std::vector<std::string> names = capture_names(expression);
  MW_CHECK(names.size() <= static_cast<size_t>(kCaptureLimit));
  auto inner = std::make_unique<Inner>(expression);
  inner->named = false;
  inner->bar = expression == kBarExpression;
  return Regex(std::move(inner), std::move(names));
}

Result<Regex> Regex::compile(std::string_view expression) {
  auto inner = std::make_unique<Inner>(expression);
  const RE2& re = inner->re();
  if (!re.ok()) {
    return Error{Error::Code::kInvalid, cat("bad regular expression: ", std::string_view(re.error())),
                 "use RE2 syntax, without look-around and back-references"};
  }
  const int count = re.NumberOfCapturingGroups();
  if (count > kCaptureLimit) {
    return Error{Error::Code::kLimit, cat("a regular expression has ", count, " captures, at most 16 are allowed"),
                 "use (?:...) for groups that capture nothing"};
  }
  std::vector<std::string> names(static_cast<size_t>(count));
  for (const auto& [index, name] : re.CapturingGroupNames()) names[static_cast<size_t>(index) - 1] = name;
  return Regex(std::move(inner), std::move(names));
}

bool Regex::match(std::string_view text, std::vector<std::string_view>& captures, size_t* end) const {
  std::array<re2::StringPiece, kCaptureLimit + 1> pieces;
  const auto count = static_cast<int>(names_.size()) + 1;
  if (inner_->bar) return match_bar(text, captures, end);
  if (!inner_->may_match(text)) return false;
  if (!inner_->find(text, pieces.data(), count)) return false;
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
