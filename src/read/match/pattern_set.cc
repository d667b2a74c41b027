#include "read/match/pattern_set.h"

#include <re2/re2.h>
#include <string.h>  // memrchr, memmem

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "read/match/literal_scanner.h"
#include "read/match/required_literals.h"

namespace mw {
namespace {

constexpr size_t kPiece = 128 << 10;  ///< bytes per pass of the prefilter; small, so that the text is still in cache
constexpr uint32_t kSlow = 1U << 31;  ///< marks a hit that is a slow pattern's, not a literal's

/// The last `c` in [from, to), or npos.
size_t find_last(std::string_view text, char c, size_t from, size_t to) {
  if (from >= to) return std::string_view::npos;
  const void* found = memrchr(text.data() + from, c, to - from);
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

/// The first `c` in [from, to), or `to`.
size_t find_first(std::string_view text, char c, size_t from, size_t to) {
  if (from >= to) return to;
  const void* found = memchr(text.data() + from, c, to - from);
  return found == nullptr ? to : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

bool holds(std::string_view text, const std::string& part) {
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

void sort_unique(std::vector<uint32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

RE2::Options regex_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);  // log bytes need not be UTF-8
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(PatternSet::kRegexMemory);
  return options;
}

/// One distinct expression.
struct Test {
  std::string expression;
  bool regex = false;
  std::vector<uint32_t> ids;
  std::vector<std::string> also;  // literals that must be there, too
  std::unique_ptr<RE2> compiled;
  uint64_t seen = 0;  // the segment it was last tried on

  bool matches(std::string_view segment) {
    if (!regex) return true;  // its literal is all of it
    for (const std::string& literal : also) {
      if (!holds(segment, literal)) return false;
    }
    if (compiled == nullptr) compiled = std::make_unique<RE2>(expression, regex_options());
    return compiled->ok() &&
           compiled->Match({segment.data(), segment.size()}, 0, segment.size(), RE2::UNANCHORED, nullptr, 0);
  }
};

struct Literal {
  size_t length = 0;
  std::vector<uint32_t> tests;
};

}  // namespace

struct PatternSet::Inner {
  std::vector<Test> tests;
  std::vector<Literal> literals;
  std::vector<uint32_t> slow;
  std::unique_ptr<LiteralScanner> scanner;
  std::vector<LiteralScanner::Hit> hits;
  uint64_t segments = 0;  // numbers the segments, for Test::seen
};

PatternSet::PatternSet(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;
PatternSet::~PatternSet() = default;

// ---- compiling
// ---------------------------------------------------------------------------------------------------------

namespace {

/// The literals that wake a test. An error when its expression is not one; `slow` when none can be had.
Result<std::vector<std::string>> prepare(Test& test, bool proven, bool* slow) {
  if (test.expression.empty()) return Error{Error::Code::kInvalid, "a pattern is empty: it would match every line", ""};
  if (!test.regex) return std::vector<std::string>{test.expression};
  RequiredLiterals required = required_literals(test.expression);
  // What the reader cannot vouch for is compiled now, to report errors early; the rest when a line asks for it.
  const bool vouched =
      proven || (required.understood && !contains(test.expression, "{") && !contains(test.expression, "(?P<"));
  if (!vouched) {
    test.compiled = std::make_unique<RE2>(test.expression, regex_options());
    if (!test.compiled->ok()) {
      return Error{Error::Code::kInvalid, cat("pattern '", test.expression, "': ", test.compiled->error()),
                   "the syntax is RE2's, see https://github.com/google/re2/wiki/Syntax"};
    }
  }
  *slow = required.any.empty();
  test.also = std::move(required.also);
  return std::move(required.any);
}

}  // namespace

Result<PatternSet> PatternSet::compile(std::vector<Pattern> patterns, bool proven) {
  if (patterns.size() > kPatternsLimit) {
    return Error{Error::Code::kLimit, cat("more than ", kPatternsLimit, " patterns"), ""};
  }
  auto inner = std::make_unique<Inner>();
  inner->tests.reserve(patterns.size());
  std::array<std::unordered_map<std::string, size_t>, 2> known;  // literals, regexes
  std::unordered_map<std::string, uint32_t> literal_numbers;
  std::vector<std::string> texts;
  for (Pattern& pattern : patterns) {
    const auto [place, fresh] = known[pattern.regex ? 1 : 0].try_emplace(pattern.expression, inner->tests.size());
    if (!fresh) {
      inner->tests[place->second].ids.push_back(pattern.id);
      continue;
    }
    Test test;
    test.expression = std::move(pattern.expression);
    test.regex = pattern.regex;
    test.ids = {pattern.id};
    bool slow = false;
    auto literals = prepare(test, proven, &slow);
    if (!literals.ok()) return literals.error();
    const auto number = static_cast<uint32_t>(inner->tests.size());
    if (slow) inner->slow.push_back(number);
    for (std::string& literal : *literals) {
      if (contains(literal, "\n") || contains(literal, "\r")) continue;  // in no segment
      const auto [at, added] = literal_numbers.try_emplace(literal, static_cast<uint32_t>(texts.size()));
      if (added) {
        inner->literals.push_back({literal.size(), {}});
        texts.push_back(literal);
      }
      inner->literals[at->second].tests.push_back(number);
    }
    inner->tests.push_back(std::move(test));
  }
  auto scanner = LiteralScanner::compile(texts);
  if (!scanner.ok()) return scanner.error();
  inner->scanner = std::make_unique<LiteralScanner>(std::move(*scanner));
  return PatternSet(std::move(inner));
}

std::vector<std::string> PatternSet::slow_patterns() const {
  std::vector<std::string> expressions;
  for (const uint32_t test : inner_->slow) expressions.push_back(inner_->tests[test].expression);
  return expressions;
}

PatternSet::Size PatternSet::size() const {
  Size size;
  size.literals = inner_->literals.size();
  size.prefilter_bytes = inner_->scanner->bytes();
  for (const Test& test : inner_->tests) {
    size.regexes += test.regex ? 1 : 0;
    size.compiled += test.compiled != nullptr ? 1 : 0;
  }
  return size;
}

// ---- scanning
// ----------------------------------------------------------------------------------------------------------

/// One pass over one block.
class PatternSet::Scan {
 public:
  Scan(Inner& inner, std::string_view block, HitListener* listener, size_t wanted)
      : inner_(inner), block_(block), listener_(listener), wanted_(wanted) {}

  size_t run() {
    for (size_t at = 0; at < block_.size();) at = piece(at);
    flush_line();
    give_wanted(block_.size());
    return wanted_;
  }
  std::vector<uint32_t>& ids() { return ids_; }

 private:
  size_t piece(size_t at);
  void range(size_t from, size_t to);
  void add_slow_hits(size_t from, size_t to);
  void segment_at(size_t literal_begin, size_t literal_end, size_t from, size_t to);
  void try_test(uint32_t number, std::string_view text);
  void open_line(size_t at);
  void flush_line();
  void give_wanted(size_t before);
  void give(size_t begin, size_t end, std::span<const uint32_t> ids);

  Inner& inner_;
  std::string_view block_;
  HitListener* listener_;  // none: match_line()
  size_t wanted_;
  std::vector<uint32_t> ids_;
  size_t line_begin_ = 0, line_end_ = 0;        // the line that ids_ are of; nothing yet when line_end_ is 0
  size_t segment_begin_ = 0, segment_end_ = 0;  // the segment that was last looked at
  size_t window_begin_ = 0, window_end_ = 0;    // the part of it that is being matched
  size_t feed_ = 0;                             // the '\n' that ends the line of that segment, or the range's end
  size_t cursor_ = 0, cursor_line_ = 0;         // lines before have been given or passed over
};

/// Scans the block from `at` on, for about kPiece bytes that end with a segment; returns where to go on.
size_t PatternSet::Scan::piece(size_t at) {
  const size_t limit = std::min(at + kPiece, block_.size());
  if (limit == block_.size()) {
    range(at, limit);
    return limit;
  }
  const size_t feed = find_last(block_, '\n', at, limit),
               back = find_last(block_, '\r', feed == std::string_view::npos ? at : feed, limit);
  if (feed != std::string_view::npos || back != std::string_view::npos) {
    const size_t last = back != std::string_view::npos ? back : feed;
    range(at, last + 1);
    return last + 1;
  }
  const size_t line_end = find_first(block_, '\n', limit, block_.size());
  const size_t end = find_first(block_, '\r', limit, line_end);
  range(at, at + kWindow);
  range(end - kWindow, end);
  return std::min(end + 1, block_.size());
}

/// Scans [from, to), which begins and ends at segment ends (or is one of the windows of a long segment).
void PatternSet::Scan::range(size_t from, size_t to) {
  std::vector<LiteralScanner::Hit>& hits = inner_.hits;
  inner_.scanner->scan(block_.substr(from, to - from), hits);
  if (!inner_.slow.empty()) add_slow_hits(from, to);
  segment_begin_ = segment_end_ = feed_ = from;
  ++inner_.segments;
  bool first = true;
  for (const LiteralScanner::Hit& hit : hits) {
    const size_t end = from + hit.end;
    const bool slow = (hit.literal & kSlow) != 0;
    const size_t begin = slow ? end : end - inner_.literals[hit.literal].length;
    if (first || end > segment_end_) segment_at(begin, end, from, to);
    first = false;
    if (begin < window_begin_ || end > window_end_) {
      if (segment_end_ - segment_begin_ <= kSegmentLimit || end > segment_end_ || begin + kWindow < segment_end_)
        continue;
      window_begin_ = segment_end_ - kWindow;  // on to the second window
      window_end_ = segment_end_;
      ++inner_.segments;
    }
    const std::string_view text = block_.substr(window_begin_, window_end_ - window_begin_);
    if (slow) {
      try_test(hit.literal & ~kSlow, text);
    } else {
      for (const uint32_t test : inner_.literals[hit.literal].tests) try_test(test, text);
    }
  }
}

/// The slow patterns are tried on every segment (and on both windows of a long one).
void PatternSet::Scan::add_slow_hits(size_t from, size_t to) {
  size_t line_end = find_first(block_, '\n', from, to);
  for (size_t begin = from; begin < to;) {
    if (begin > line_end) line_end = find_first(block_, '\n', begin, to);
    const size_t end = find_first(block_, '\r', begin, line_end);
    for (const uint32_t test : inner_.slow) {
      if (begin == end) break;
      inner_.hits.push_back({static_cast<uint32_t>(begin - from), test | kSlow});
      if (end - begin > kSegmentLimit) inner_.hits.push_back({static_cast<uint32_t>(end - from), test | kSlow});
    }
    begin = end + 1;
  }
  std::stable_sort(inner_.hits.begin(), inner_.hits.end(),
                   [](const LiteralScanner::Hit& a, const LiteralScanner::Hit& b) { return a.end < b.end; });
}

/// Sets the segment within [from, to) that holds the literal, its first window, and the line.
void PatternSet::Scan::segment_at(size_t literal_begin, size_t literal_end, size_t from, size_t to) {
  const size_t back_to = std::max(from, std::min(segment_end_, literal_begin));
  const size_t feed = find_last(block_, '\n', back_to, literal_begin);
  const size_t line_from = feed == std::string_view::npos ? back_to : feed + 1;
  // A bar's line has thousands of segments: its end is looked for once.
  if (literal_end > feed_ || feed_ == from) feed_ = find_first(block_, '\n', literal_end, to);
  const size_t line_to = feed_;
  const size_t back = find_last(block_, '\r', line_from, literal_begin);
  segment_begin_ = back == std::string_view::npos ? line_from : back + 1;
  segment_end_ = find_first(block_, '\r', literal_end, line_to);
  window_begin_ = segment_begin_;
  window_end_ = segment_end_ - segment_begin_ > kSegmentLimit ? segment_begin_ + kWindow : segment_end_;
  ++inner_.segments;
}

void PatternSet::Scan::try_test(uint32_t number, std::string_view text) {
  Test& test = inner_.tests[number];
  if (test.seen == inner_.segments) return;
  test.seen = inner_.segments;
  if (!test.matches(text)) return;
  const size_t at = window_begin_;
  if (line_end_ == 0 || at > line_end_) {
    flush_line();
    open_line(at);
  }
  ids_.insert(ids_.end(), test.ids.begin(), test.ids.end());
}

void PatternSet::Scan::open_line(size_t at) {
  const size_t feed = find_last(block_, '\n', cursor_, at);
  line_begin_ = feed == std::string_view::npos ? cursor_ : feed + 1;
  line_end_ = find_first(block_, '\n', at, block_.size());
}

void PatternSet::Scan::flush_line() {
  if (ids_.empty()) return;
  sort_unique(ids_);
  if (listener_ == nullptr) return;
  give_wanted(line_begin_);
  cursor_line_ += count_lines(block_.substr(cursor_, line_begin_ - cursor_));
  if (wanted_ > 0) --wanted_;
  give(line_begin_, line_end_, ids_);
  ids_.clear();
}

/// Gives the lines that are wanted and begin before `before`.
void PatternSet::Scan::give_wanted(size_t before) {
  while (wanted_ > 0 && cursor_ < before && listener_ != nullptr) {
    --wanted_;
    give(cursor_, find_first(block_, '\n', cursor_, block_.size()), {});
  }
}

void PatternSet::Scan::give(size_t begin, size_t end, std::span<const uint32_t> ids) {
  std::string_view line = block_.substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  wanted_ = std::max(wanted_, listener_->hit(line, begin, cursor_line_, ids));
  cursor_ = std::min(end + 1, block_.size());
  ++cursor_line_;
}

size_t PatternSet::scan(std::string_view block, HitListener& listener, size_t wanted) const {
  return Scan(*inner_, block, &listener, wanted).run();
}

void PatternSet::match_line(std::string_view line, std::vector<uint32_t>& ids) const {
  Scan scan(*inner_, line, nullptr, 0);
  scan.run();
  ids.swap(scan.ids());
}

}  // namespace mw
