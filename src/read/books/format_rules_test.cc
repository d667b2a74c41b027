#include "read/books/format_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/text.h"
#include "read/interpret/answer_judge.h"

namespace mw {
namespace {

std::string first_broken(const FormatRuleSet& set, const std::string& answer, AnswerPlace place) {
  std::vector<event::FormatJudged> counts;
  set.judge(answer, place, counts);
  for (const FormatRule& rule : set.rules) {
    for (const event::FormatJudged& one : counts) {
      if (one.rule == set.name_of(rule) && one.failed != 0) return rule.id;
    }
  }
  return "";
}

std::string error_of(std::string_view toml) {
  auto set = parse_format_rules(toml, "x.toml");
  return set.ok() ? std::string() : set.error().what;
}

TEST_CASE("the built-in rule sets hold for their own samples") {
  const auto sets = built_in_format_rules();
  REQUIRE_MESSAGE(sets.ok(), (sets.ok() ? "" : sets.error().what));
  REQUIRE(sets->size() >= 2);
  size_t samples = 0;
  for (const FormatRuleSet& set : *sets) {
    for (const FormatRuleSet::Sample& sample : set.samples) {
      CAPTURE(set.id);
      CAPTURE(sample.line);
      CHECK(first_broken(set, sample.answer, sample.place) == sample.broken);
      ++samples;
    }
  }
  CHECK(samples >= 9);
}

TEST_CASE("the seven rules of the SkyRL report are there, each with a log line and a test of the text") {
  const auto sets = built_in_format_rules();
  REQUIRE(sets.ok());
  const auto seven = std::find_if(sets->begin(), sets->end(), [](const auto& set) { return set.id == "skyrl-seven"; });
  REQUIRE(seven != sets->end());
  CHECK(seven->rules.size() == 7);
  for (const FormatRule& rule : seven->rules) {
    CAPTURE(rule.id);
    CHECK(!rule.failed.empty());
    CHECK(!rule.tests.empty());
  }
  const Dialect dialect = seven->as_dialect();
  CHECK(dialect.shapes.size() == 8);  // the rules and the verdict
  CHECK(dialect.family == Dialect::Family::kLayer);
  CHECK(dialect.shapes.front().constant("rule") == "skyrl-seven/1-starts-with-think");
}

TEST_CASE("an answer is counts by the rules of its place") {
  const auto set = parse_format_rules(R"(
id = "mine"
[[rule]]
id = "boxed"
place = "last"
answer = [{ matches = '\\boxed\{[^}]+\}' }]
[[rule]]
id = "short"
answer = [{ count = "<answer>", most = 1 }]
)",
                                      "mine.toml");
  REQUIRE_MESSAGE(set.ok(), (set.ok() ? "" : set.error().what));
  std::vector<event::FormatJudged> counts;
  set->judge("so \\boxed{4}", AnswerPlace::kLast, counts);
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].rule == "mine/boxed");
  CHECK(counts[0].passed == 1);
  CHECK(counts[1].passed == 1);
  counts.clear();
  set->judge("so 4 <answer>4</answer> <ANSWER>5</ANSWER>", AnswerPlace::kLast, counts);
  CHECK(counts[0].failed == 1);
  CHECK(counts[1].failed == 1);
  counts.clear();
  set->judge("so 4", AnswerPlace::kAny, counts);  // nobody knows whether it is the last
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].rule == "mine/short");
}

TEST_CASE("hostile answers are counts in bounded time and memory") {
  const auto set = parse_format_rules(R"(
id = "tags"
[[rule]]
id = "ends"
answer = [{ starts_with = "<think>" }, { ends_with = "</solution>" }]
)",
                                      "tags.toml");
  REQUIRE(set.ok());
  std::string huge = "<think>" + std::string(3 * kAnswerLimit, 'x') + "</solution>";
  std::vector<event::FormatJudged> counts;
  set->judge(huge, AnswerPlace::kAny, counts);
  CHECK(counts[0].passed == 1);
  counts.clear();
  set->judge(std::string_view("\0\xff\xfe", 3), AnswerPlace::kAny, counts);
  set->judge("", AnswerPlace::kAny, counts);
  CHECK(counts[0].failed == 1);
  CHECK(counts[1].failed == 1);
}

TEST_CASE("answers in records are judged by the sets that name their fields, and counted") {
  std::vector<std::unique_ptr<FormatRuleSet>> sets;
  for (const char* fields : {"fields = [\"response\"]\n", ""}) {
    auto set = parse_format_rules(
        cat("id = \"s", sets.size(), "\"\n", fields, "[[rule]]\nid = \"tag\"\nanswer = [{ starts_with = \"<a>\" }]\n"),
        "s.toml");
    REQUIRE(set.ok());
    sets.push_back(std::make_unique<FormatRuleSet>(std::move(*set)));
  }
  AnswerJudge judge(sets);
  const RowText good[] = {{"sample/response", "<a>1"}, {"prompt", "x"}};
  const RowText bad[] = {{"response", "1"}, {"no_response", "<a>"}};
  judge.row(good);
  judge.row(good);
  judge.row(bad);
  const auto counts = judge.take();
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].rule == "s0/tag");
  CHECK(counts[0].passed == 2);
  CHECK(counts[0].failed == 1);
  CHECK(judge.take().empty());
  for (size_t i = 0; i < AnswerJudge::kRowsPerEvent; ++i) judge.row(good);
  CHECK(judge.due());
}

TEST_CASE("what is wrong with a rule file is said with its line") {
  CHECK(contains(error_of("id = \"a\"\n"), "no [[rule]]"));
  CHECK(contains(error_of("title = \"a\"\n"), "\"id\" is missing"));
  CHECK(contains(error_of("id = \"a\"\n[[rule]]\nid = \"b\"\n"), "x.toml:2: a rule needs \"failed\" or \"answer\""));
  CHECK(contains(error_of("id = \"a\"\n[[rule]]\nid = \"b\"\nfailed = \"no\"\n"), "3 bytes"));
  CHECK(contains(error_of("id = \"a\"\n[[rule]]\nid = \"b\"\nanswer = [{ matches = \"(\" }]\n"), "x.toml:4"));
  CHECK(
      contains(error_of("id = \"a\"\n[[rule]]\nid = \"b\"\nanswer = [{ count = \"x\" }]\n"), "exactly, least or most"));
  CHECK(contains(error_of("id = \"a\"\n[[rule]]\nid = \"b\"\nplace = \"first\"\nfailed = \"xyz\"\n"), "\"place\""));
  CHECK(contains(error_of("id = \"a\"\nverdict = \"pass: \"\n[[rule]]\nid = \"b\"\nfailed = \"xyz\"\n"), "verdict"));
  CHECK(contains(error_of("id = \"a\"\ncolour = 1\n"), "unknown key"));
}

}  // namespace
}  // namespace mw
