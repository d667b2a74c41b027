#include "read/match/pattern_set.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/text.h"

namespace mw {
namespace {

struct Hit {
  std::string line;
  size_t offset, line_index;
  std::vector<uint32_t> ids;
  bool operator==(const Hit&) const = default;
};

class Collector : public HitListener {
 public:
  explicit Collector(size_t want = 0) : want_(want) {}
  size_t hit(std::string_view line, size_t offset, size_t line_index, std::span<const uint32_t> ids) override {
    hits.push_back({std::string(line), offset, line_index, {ids.begin(), ids.end()}});
    return ids.empty() ? 0 : want_;
  }
  std::vector<Hit> hits;

 private:
  size_t want_;
};

PatternSet compiled(std::vector<Pattern> patterns) {
  auto set = PatternSet::compile(std::move(patterns));
  REQUIRE(set.ok());
  return std::move(*set);
}

/// What the header promises, the slow and plain way.
bool text_matches(const Pattern& pattern, std::string_view text) {
  if (!pattern.regex) return contains(text, pattern.expression);
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  return RE2::PartialMatch({text.data(), text.size()}, RE2(pattern.expression, options));
}

std::vector<uint32_t> plain_ids(const std::vector<Pattern>& patterns, std::string_view line) {
  std::set<uint32_t> ids;
  for (const std::string_view segment : split(line, '\r')) {
    if (segment.empty()) continue;
    std::vector<std::string_view> windows = {segment};
    if (segment.size() > PatternSet::kSegmentLimit) {
      windows = {segment.substr(0, PatternSet::kWindow), segment.substr(segment.size() - PatternSet::kWindow)};
    }
    for (const std::string_view window : windows) {
      for (const Pattern& pattern : patterns) {
        if (text_matches(pattern, window)) ids.insert(pattern.id);
      }
    }
  }
  return {ids.begin(), ids.end()};
}

std::vector<Hit> plain_scan(const std::vector<Pattern>& patterns, std::string_view block, size_t want) {
  std::vector<Hit> hits;
  size_t wanted = 0, index = 0;
  for (size_t at = 0; at < block.size(); ++index) {
    const size_t end = std::min(block.find('\n', at), block.size());
    std::string_view line = block.substr(at, end - at);
    const std::vector<uint32_t> ids = plain_ids(patterns, line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!ids.empty() || wanted > 0) {
      wanted = std::max(wanted - (wanted > 0 ? 1 : 0), ids.empty() ? 0 : want);
      hits.push_back({std::string(line), at, index, ids});
    }
    at = end + 1;
  }
  return hits;
}

const std::vector<Pattern>& sample_patterns() {
  static const std::vector<Pattern> patterns = {{"out of memory", false, 1},
                                                {"^step (\\d+)", true, 2},
                                                {"(?:CUDA|HIP) error: \\w+", true, 3},
                                                {"died$", true, 4},
                                                {"rank \\d+ (died|hung)", true, 5},
                                                {"died", false, 6},
                                                {"\\d\\d%", true, 7},  // no literal: slow
                                                {"lo(ss|ot)=[0-9.]+ kl=nan", true, 8},
                                                {"rank \\d+ (died|hung)", true, 9},
                                                {"(?i)timeout", true, 10},
                                                {"ep", false, 11}};
  return patterns;
}

std::string random_log(Prng& prng, size_t pieces) {
  static const std::vector<std::string> parts = {"out of memory",
                                                 "step 12",
                                                 "step ",
                                                 "CUDA error: bad",
                                                 "HIP error: ",
                                                 "died",
                                                 "rank 3 died",
                                                 "rank x died",
                                                 "\r",
                                                 "\n",
                                                 "\n",
                                                 "\r\n",
                                                 "99%",
                                                 "9%",
                                                 "loss=0.1",
                                                 "loot=",
                                                 " kl=nan",
                                                 "TimeOut",
                                                 "e",
                                                 "p",
                                                 "ep\nep",
                                                 " ",
                                                 "out of ",
                                                 "memory",
                                                 "\xff\x80",
                                                 "rank 1 hung"};
  std::string log;
  for (size_t i = 0; i < pieces; ++i) log += parts[prng.below(parts.size())];
  return log;
}

TEST_CASE("lines, offsets, indexes and ids are reported in order") {
  const PatternSet set = compiled({{"boom", false, 7}, {"ba+m", true, 3}, {"boom", false, 2}});
  Collector collector;
  CHECK(set.scan("a\nboom baam\r\n\n  boom", collector) == 0);
  REQUIRE(collector.hits.size() == 2);
  CHECK(collector.hits[0] == Hit{"boom baam", 2, 1, {2, 3, 7}});
  CHECK(collector.hits[1] == Hit{"  boom", 14, 3, {2, 7}});
}

TEST_CASE("a scan is what RE2::PartialMatch on every line gives") {
  const std::vector<Pattern>& patterns = sample_patterns();
  const PatternSet set = compiled(patterns);
  Prng prng(20260219);
  for (int round = 0; round < 300; ++round) {
    const std::string log = random_log(prng, 1 + prng.below(60));
    const size_t want = prng.below(3);
    CAPTURE(escape_terminal(log));
    Collector collector(want);
    set.scan(log, collector);
    CHECK(collector.hits == plain_scan(patterns, log, want));
  }
}

TEST_CASE("the same holds across pieces and over long segments") {
  const std::vector<Pattern>& patterns = sample_patterns();
  const PatternSet set = compiled(patterns);
  Prng prng(4);
  for (int round = 0; round < 25; ++round) {
    std::string log;
    for (int i = 0; i < 6; ++i) {
      log += random_log(prng, prng.below(4));
      log += std::string(prng.below(prng.chance(0.5) ? 200000 : 70000), prng.chance(0.3) ? 'p' : '.');
      log += random_log(prng, prng.below(4));
    }
    Collector collector;
    set.scan(log, collector);
    CHECK(collector.hits == plain_scan(patterns, log, 0));
  }
}

TEST_CASE("a literal of any length is found at every place of a short text") {
  for (const char* literal : {"q", "qq", "qrs"}) {
    const auto set = PatternSet::compile({{literal, false, 1}, {"xywv", false, 2}});
    REQUIRE(set.ok());
    size_t missed = 0;
    std::vector<uint32_t> ids;
    for (size_t length = std::string(literal).size(); length < 200; ++length) {
      for (size_t at = 0; at + std::string(literal).size() <= length; ++at) {
        std::string text(length, 'a');
        text.replace(at, std::string(literal).size(), literal);
        ids.clear();
        set->match_line(text, ids);
        missed += ids == std::vector<uint32_t>{1} ? 0 : 1;
      }
    }
    CHECK(missed == 0);
  }
}

// As Vectorscan alone does not with these: found by fuzzing.
TEST_CASE("a literal of a small set is found at every distance from the end") {
  std::vector<Pattern> patterns;
  for (const char* literal : {"[@]", "@@@", "@@]", "[@@", "47@@@", "47[@@"}) {
    patterns.push_back({literal, false, static_cast<uint32_t>(patterns.size())});
  }
  const auto set = PatternSet::compile(patterns);
  REQUIRE(set.ok());
  std::vector<uint32_t> ids;
  for (const size_t head : {0U, 60U, 200U, 1000U}) {
    for (size_t tail = 0; tail < 200; ++tail) {
      ids.clear();
      set->match_line(cat(std::string(head, '.'), "[@]", std::string(tail, '.')), ids);
      CHECK(ids == std::vector<uint32_t>{0});
    }
  }
}

TEST_CASE("match_line agrees with scan") {
  const std::vector<Pattern>& patterns = sample_patterns();
  const PatternSet set = compiled(patterns);
  Prng prng(5);
  std::vector<uint32_t> ids;
  for (int round = 0; round < 300; ++round) {
    std::string line = random_log(prng, prng.below(8));
    std::replace(line.begin(), line.end(), '\n', '\r');
    set.match_line(line, ids);
    CHECK(ids == plain_ids(patterns, line));
  }
}

TEST_CASE("what was found is not sought again where only news count") {
  const PatternSet set = compiled({{"alpha", false, 1}, {"beta\\d", true, 2}, {"gamma", false, 3}});
  Collector collector;
  std::vector<bool> found;
  set.scan_for_new("alpha beta\nalpha beta1\nalpha\n", collector, found);
  REQUIRE(collector.hits.size() == 2);
  CHECK(collector.hits[0].ids == std::vector<uint32_t>{1});
  CHECK(collector.hits[1].ids == std::vector<uint32_t>{2});
  set.scan_for_new("alpha beta2 gamma\n", collector, found);
  REQUIRE(collector.hits.size() == 3);
  CHECK(collector.hits[2].ids == std::vector<uint32_t>{3});
  set.scan("alpha\n", collector);
  CHECK(collector.hits.size() == 4);
}

TEST_CASE("lines that are wanted go on into the next block") {
  const PatternSet set = compiled({{"Traceback", false, 1}});
  Collector collector(3);
  const size_t wanted = set.scan("x\nTraceback\n one\n", collector);
  CHECK(wanted == 2);
  CHECK(set.scan(" two\n three\n four\n", collector, wanted) == 0);
  REQUIRE(collector.hits.size() == 4);
  CHECK(collector.hits[3].line == " three");
  CHECK(collector.hits[3].line_index == 1);
}

TEST_CASE("patterns without a literal are named") {
  const PatternSet set = compiled(sample_patterns());
  CHECK(set.slow_patterns() == std::vector<std::string>{"\\d\\d%"});
  CHECK(set.size().regexes == 7);
}

TEST_CASE("expressions are compiled when their literals are first seen") {
  const PatternSet set = compiled({{"alpha\\d", true, 1}, {"beta\\d", true, 2}});
  CHECK(set.size().compiled == 0);
  Collector collector;
  set.scan("only alpha here\n", collector);
  CHECK(collector.hits.empty());
  CHECK(set.size().compiled == 1);
}

TEST_CASE("an expression that heeds no case is tried where all of one of its literals stands") {
  const PatternSet set = compiled({{"(?i)\\b(?:finished|done) (?:with )?(?:the )?training\\b", true, 1}});
  Collector collector;
  set.scan("Done, and on with the training\nundone training\nDonE\nfini\n", collector);
  CHECK(collector.hits.empty());
  CHECK(set.size().compiled == 1);  // for "undone training"
  set.scan("Done. All is DONE WITH Training.\nFinished the data, done training\n", collector);
  REQUIRE(collector.hits.size() == 2);
  CHECK(collector.hits[1].ids == std::vector<uint32_t>{1});
}

TEST_CASE("what cannot be a pattern is refused with a reason") {
  CHECK_FALSE(PatternSet::compile({{"", false, 1}}).ok());
  CHECK_FALSE(PatternSet::compile({{"a(b", true, 1}}).ok());
  CHECK_FALSE(PatternSet::compile({{"(?P<a b>xyz)", true, 1}}).ok());
  CHECK_FALSE(PatternSet::compile({{"((abcde{100}){100}){100}", true, 1}}).ok());
  CHECK(PatternSet::compile({}).ok());
}

TEST_CASE("hostile text: one endless line, endless hits, automata out of memory") {
  const PatternSet set = compiled({{"aaa", false, 1}, {"aaaa", false, 2}, {"aaa.*b.{30}$", true, 3}});
  Collector collector;
  set.scan(std::string(8 << 20, 'a'), collector);
  REQUIRE(collector.hits.size() == 1);
  CHECK(collector.hits[0].ids == std::vector<uint32_t>{1, 2});
  std::string bomb;
  Prng prng(1);
  for (int i = 0; i < 60000; ++i) bomb.push_back("ab"[prng.below(2)]);
  Collector other;
  set.scan(bomb, other);
  REQUIRE(other.hits.size() == 1);
  CHECK(other.hits[0].ids == plain_ids({{"aaa", false, 1}, {"aaaa", false, 2}, {"aaa.*b.{30}$", true, 3}}, bomb));
}

TEST_CASE("of a long line what lies around the literals is what all of it would give") {
  const std::vector<Pattern> patterns = {{"(?i)\\btrain\\b[^.]{0,9}\\bdone\\b", true, 1},
                                         {"^train \\d", true, 2},
                                         {"\\d train$", true, 3},
                                         {"[a-d]{2} ?train(ed|er)\\B", true, 4},
                                         {"train.*done", true, 5}};
  const PatternSet set = compiled(patterns);
  const std::vector<std::string> words = {"train", "Train", "trained", "trainer", "done", "Done.", "7",
                                          "ab",    ".",     " ",       "cd",      "1",    "x",     "TRAIN"};
  Prng prng(7);
  for (int round = 0; round < 3000; ++round) {
    std::string line;
    const size_t filler = prng.below(3) == 0 ? 0 : prng.below(60);
    for (size_t i = 0, n = 1 + prng.below(12); i < n; ++i) {
      line += words[prng.below(words.size())];
      if (prng.below(2) == 0) line += ' ';
      if (prng.below(3) == 0) line.append(filler * prng.below(20), '-');
    }
    std::vector<uint32_t> ids;
    set.match_line(line, ids);
    INFO(line);
    CHECK(ids == plain_ids(patterns, line));
  }
}

}  // namespace
}  // namespace mw
