#include "read/match/pattern_set.h"

#include <re2/re2.h>
#include <string.h>  // memrchr

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "read/match/literal_scanner.h"
#include "read/match/pattern_tables.h"
#include "read/match/required_literals.h"
#include "read/match/syntax_walk.h"

namespace mw {
namespace {

constexpr size_t kPiece = 128 << 10;  ///< bytes per pass of the prefilter; small, so that the text is still in cache
constexpr size_t kReachLimit =
    128;  ///< bytes of the longest match up to which only the neighbourhood of a literal is read
constexpr size_t kWorthwhile = 4;     ///< a segment of fewer reaches is read whole, and one with more hits, too
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

struct TestState {
  std::unique_ptr<RE2> compiled;
  uint64_t seen = 0;     // the segment that it need not be tried on any more
  uint64_t begun = 0;    // the segment in which it was last tried around a literal ...
  size_t attempts = 0;   // ... so many times
  uint64_t in_line = 0;  // the line in which it matched last
};

}  // namespace

struct PatternSet::Inner {
  Inner(FlatReader& in, LiteralScanner made)
      : tables(in), states(tables.expressions.size()), scanner(std::move(made)) {}
  bool matches(uint32_t test, std::string_view segment, size_t from, size_t to);

  std::string own;  // what the tables look at, when nobody else keeps it
  PatternTables tables;
  std::vector<TestState> states;  // per test
  LiteralScanner scanner;
  std::vector<LiteralScanner::Hit> hits;
  uint64_t segments = 0;  // numbers the segments, for TestState::seen
  uint64_t lines = 0;     // numbers the lines in which something matched, for TestState::in_line
};

/// Within [from, to) of the segment, what stands beside it heeded.
bool PatternSet::Inner::matches(uint32_t test, std::string_view segment, size_t from, size_t to) {
  if (!tables.regex(test)) return true;  // its literal is all of it
  if (!tables.holds_also(test, segment.substr(from, to - from))) return false;
  std::unique_ptr<RE2>& compiled = states[test].compiled;
  if (compiled == nullptr) {
    compiled = std::make_unique<RE2>(without_names(tables.expressions[test]), regex_options());
  }
  return compiled->ok() && compiled->Match({segment.data(), segment.size()}, from, to, RE2::UNANCHORED, nullptr, 0);
}

PatternSet::PatternSet(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;
PatternSet::~PatternSet() = default;

// ---- compiling
// ---------------------------------------------------------------------------------------------------------

namespace {

/// Gathers tests and literals, and writes them as PatternTables and LiteralScanner read them.
class Compiler {
 public:
  explicit Compiler(bool proven) : proven_(proven) {}
  Result<void> add(const Pattern& pattern);
  std::string write() const;
  /// The expressions that were compiled to find their mistakes, per test.
  std::vector<std::unique_ptr<RE2>>& compiled() { return compiled_; }

 private:
  Result<std::vector<std::string>> prepare(const Pattern& pattern);

  bool proven_;
  std::array<std::unordered_map<std::string, size_t>, 2> known_;  // literals, regexes
  std::unordered_map<std::string, uint32_t> literal_numbers_;
  std::vector<std::string> expressions_, literals_, also_texts_;
  std::vector<uint8_t> kinds_;
  std::vector<uint32_t> reach_;
  std::vector<std::vector<uint32_t>> ids_, also_, also_lists_, wholes_, woken_;
  std::vector<uint32_t> slow_;
  std::vector<std::unique_ptr<RE2>> compiled_;
};

/// The literals that wake a test. An error when its expression is not one.
Result<std::vector<std::string>> Compiler::prepare(const Pattern& pattern) {
  if (pattern.expression.empty()) {
    return Error{Error::Code::kInvalid, "a pattern is empty: it would match every line", ""};
  }
  if (!pattern.regex) return std::vector<std::string>{pattern.expression};
  RequiredLiterals required = required_literals(pattern.expression);
  // What the reader cannot vouch for is compiled now, to report errors early; the rest when a line asks for it.
  const bool vouched =
      proven_ || (required.understood && !contains(pattern.expression, "{") && !contains(pattern.expression, "(?P<"));
  if (!vouched) {
    auto& compiled = compiled_.back() = std::make_unique<RE2>(pattern.expression, regex_options());
    if (!compiled->ok()) {
      return Error{Error::Code::kInvalid, cat("pattern '", pattern.expression, "': ", compiled->error()),
                   "the syntax is RE2's, see https://github.com/google/re2/wiki/Syntax"};
    }
  }
  if (!required.any.empty() && required.most <= kReachLimit) reach_.back() = static_cast<uint32_t>(required.most);
  if (required.any.empty()) slow_.push_back(static_cast<uint32_t>(expressions_.size() - 1));
  if (required.any_case) kinds_.back() |= PatternTables::kAnyCase;
  for (std::vector<std::string>& literals : required.also) {
    also_.back().push_back(static_cast<uint32_t>(also_lists_.size()));
    also_lists_.emplace_back();
    for (std::string& literal : literals) {
      also_lists_.back().push_back(static_cast<uint32_t>(also_texts_.size()));
      also_texts_.push_back(std::move(literal));
    }
  }
  for (std::string& literal : required.whole) {
    wholes_.back().push_back(static_cast<uint32_t>(also_texts_.size()));
    also_texts_.push_back(std::move(literal));
  }
  return std::move(required.any);
}

Result<void> Compiler::add(const Pattern& pattern) {
  const auto [place, fresh] = known_[pattern.regex ? 1 : 0].try_emplace(pattern.expression, expressions_.size());
  if (!fresh) {
    std::vector<uint32_t>& ids = ids_[place->second];
    ids.insert(std::upper_bound(ids.begin(), ids.end(), pattern.id), pattern.id);
    return {};
  }
  const auto number = static_cast<uint32_t>(expressions_.size());
  expressions_.push_back(pattern.expression);
  kinds_.push_back(pattern.regex ? PatternTables::kRegex : 0);
  reach_.push_back(0);
  ids_.push_back({pattern.id});
  also_.emplace_back();
  wholes_.emplace_back();
  compiled_.emplace_back();
  const auto literals = prepare(pattern);
  if (!literals.ok()) return literals.error();
  for (const std::string& literal : *literals) {
    if (contains(literal, "\n") || contains(literal, "\r")) continue;  // in no segment
    const auto [at, added] = literal_numbers_.try_emplace(literal, static_cast<uint32_t>(literals_.size()));
    if (added) {
      literals_.push_back(literal);
      woken_.emplace_back();
    }
    woken_[at->second].push_back(number);
  }
  return {};
}

std::string Compiler::write() const {
  FlatWriter out;
  LiteralScanner::write(literals_, out);
  FlatTexts::write(expressions_, out);
  out.array(kinds_);
  out.array(reach_);
  FlatLists<uint32_t>::write(ids_, out);
  FlatLists<uint32_t>::write(also_, out);
  FlatLists<uint32_t>::write(also_lists_, out);
  FlatTexts::write(also_texts_, out);
  FlatLists<uint32_t>::write(wholes_, out);
  FlatLists<uint32_t>::write(woken_, out);
  out.array(slow_);
  return out.take();
}

Result<Compiler> gathered(const std::vector<Pattern>& patterns, bool proven) {
  if (patterns.size() > PatternSet::kPatternsLimit) {
    return Error{Error::Code::kLimit, cat("more than ", PatternSet::kPatternsLimit, " patterns"), ""};
  }
  Compiler compiler(proven);
  for (const Pattern& pattern : patterns) MW_TRY(compiler.add(pattern));
  return compiler;
}

}  // namespace

Result<PatternSet> PatternSet::read(std::string_view flat) {
  FlatReader in(flat);
  auto scanner = LiteralScanner::read(in);
  if (!scanner.ok()) return scanner.error();
  return PatternSet(std::make_unique<Inner>(in, std::move(*scanner)));
}

Result<std::string> PatternSet::write(const std::vector<Pattern>& proven) {
  const auto compiler = gathered(proven, true);
  if (!compiler.ok()) return compiler.error();
  return compiler->write();
}

Result<PatternSet> PatternSet::compile(const std::vector<Pattern>& patterns, bool proven) {
  auto compiler = gathered(patterns, proven);
  if (!compiler.ok()) return compiler.error();
  std::string own = compiler->write();
  auto set = read(own);
  if (!set.ok()) return set.error();
  set->inner_->own = std::move(own);  // long enough to stay where it is
  for (size_t i = 0; i < compiler->compiled().size(); ++i) {
    set->inner_->states[i].compiled = std::move(compiler->compiled()[i]);
  }
  return set;
}

std::vector<std::string> PatternSet::slow_patterns() const {
  std::vector<std::string> expressions;
  for (const uint32_t test : inner_->tables.slow) expressions.emplace_back(inner_->tables.expressions[test]);
  return expressions;
}

PatternSet::Size PatternSet::size() const {
  Size size;
  size.literals = inner_->tables.woken.size();
  size.prefilter_bytes = inner_->scanner.bytes();
  for (size_t test = 0; test < inner_->states.size(); ++test) {
    size.regexes += inner_->tables.regex(test) ? 1 : 0;
    size.compiled += inner_->states[test].compiled != nullptr ? 1 : 0;
  }
  return size;
}

// ---- scanning
// ----------------------------------------------------------------------------------------------------------

/// One pass over one block.
class PatternSet::Scan {
 public:
  Scan(Inner& inner, std::string_view block, HitListener* listener, size_t wanted, std::vector<bool>* found = nullptr)
      : inner_(inner), block_(block), listener_(listener), wanted_(wanted), found_(found) {}

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
  void try_test(uint32_t number, std::string_view text, size_t begin, size_t end);
  void open_line(size_t at);
  void flush_line();
  void give_wanted(size_t before);
  void give(size_t begin, size_t end, std::span<const uint32_t> ids);

  Inner& inner_;
  std::string_view block_;
  HitListener* listener_;  // none: match_line()
  size_t wanted_;
  std::vector<bool>* found_;  // tests that need not be tried; none: all are
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
  inner_.scanner.scan(block_.substr(from, to - from), hits);
  if (!inner_.tables.slow.empty()) add_slow_hits(from, to);
  segment_begin_ = segment_end_ = feed_ = from;
  ++inner_.segments;
  bool first = true;
  for (const LiteralScanner::Hit& hit : hits) {
    const size_t end = from + hit.end;
    const bool slow = (hit.literal & kSlow) != 0;
    const size_t begin = slow ? end : end - inner_.scanner.length(hit.literal);
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
      try_test(hit.literal & ~kSlow, text, 0, text.size());
    } else {
      for (const uint32_t test : inner_.tables.woken[hit.literal])
        try_test(test, text, begin - window_begin_, end - window_begin_);
    }
  }
}

/// The slow patterns are tried on every segment (and on both windows of a long one).
void PatternSet::Scan::add_slow_hits(size_t from, size_t to) {
  size_t line_end = find_first(block_, '\n', from, to);
  for (size_t begin = from; begin < to;) {
    if (begin > line_end) line_end = find_first(block_, '\n', begin, to);
    const size_t end = find_first(block_, '\r', begin, line_end);
    for (const uint32_t test : inner_.tables.slow) {
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

/// `begin`, `end`: of its literal in the text.
void PatternSet::Scan::try_test(uint32_t number, std::string_view text, size_t begin, size_t end) {
  const std::span<const uint32_t> ids = inner_.tables.ids[number];
  TestState& state = inner_.states[number];
  if (state.seen == inner_.segments || (found_ != nullptr && (*found_)[number])) return;
  const bool same_line = line_end_ != 0 && window_begin_ <= line_end_;
  if (same_line && state.in_line == inner_.lines) return;               // a bar's line has thousands of segments
  if (!inner_.tables.begins_whole(number, text.substr(begin))) return;  // this is not its place, another may be
  if (state.begun != inner_.segments) state.attempts = 0;
  state.begun = inner_.segments;
  const size_t reach = inner_.tables.reach[number];
  if (reach == 0 || text.size() <= 2 * reach * kWorthwhile || ++state.attempts > kWorthwhile) {
    state.seen = inner_.segments;
    begin = 0;
    end = text.size();
  } else {
    begin -= std::min(begin, reach);
    end = std::min(text.size(), end + reach);
  }
  if (!inner_.matches(number, text, begin, end)) return;
  state.seen = inner_.segments;
  if (found_ != nullptr) (*found_)[number] = true;
  const size_t at = window_begin_;
  if (line_end_ == 0 || at > line_end_) {
    flush_line();
    open_line(at);
  }
  state.in_line = inner_.lines;
  ids_.insert(ids_.end(), ids.begin(), ids.end());
}

void PatternSet::Scan::open_line(size_t at) {
  ++inner_.lines;
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

void PatternSet::scan_for_new(std::string_view block, HitListener& listener, std::vector<bool>& found) const {
  found.resize(inner_->states.size());
  Scan(*inner_, block, &listener, 0, &found).run();
}

void PatternSet::match_line(std::string_view line, std::vector<uint32_t>& ids) const {
  Scan scan(*inner_, line, nullptr, 0);
  scan.run();
  ids.swap(scan.ids());
}

}  // namespace mw
