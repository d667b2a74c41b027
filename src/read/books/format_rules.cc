#include "read/books/format_rules.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

uint64_t count_of(std::string_view text, std::string_view part) {
  uint64_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

bool first_of_holds(const AnswerTest& test, std::string_view text) {
  size_t from = 0;
  if (!test.after.empty()) {
    from = text.find(test.after);
    if (from == std::string_view::npos) return false;
    from += test.after.size();
  }
  const std::string* first = nullptr;
  size_t best = std::string_view::npos;
  for (const std::string& candidate : test.texts) {
    const size_t at = text.find(candidate, from);
    if (at < best) {
      best = at;
      first = &candidate;
    }
  }
  return first != nullptr && *first == test.is;
}

/// `text` is trimmed and in lower case, `answer` as it was written (trimmed).
bool holds(const AnswerTest& test, std::string_view text, std::string_view answer) {
  std::vector<std::string_view> captures;
  size_t end = 0;
  switch (test.kind) {
    case AnswerTest::Kind::kStartsWith:
      return std::any_of(test.texts.begin(), test.texts.end(), [&](const auto& t) { return text.starts_with(t); });
    case AnswerTest::Kind::kEndsWith:
      return std::any_of(test.texts.begin(), test.texts.end(), [&](const auto& t) { return text.ends_with(t); });
    case AnswerTest::Kind::kCount: {
      const uint64_t count = count_of(text, test.texts.front());
      return count >= test.least && count <= test.most;
    }
    case AnswerTest::Kind::kFirstOf:
      return first_of_holds(test, text);
    case AnswerTest::Kind::kMatches:
      return test.regex->match(answer, captures, &end);
    case AnswerTest::Kind::kLacks:
      return !test.regex->match(answer, captures, &end);
  }
  return false;
}

/// Both ends of an answer that is too long: rules speak of beginnings, ends and tags.
std::string shortened(std::string_view answer) {
  if (answer.size() <= kAnswerLimit) return std::string(answer);
  return cat(answer.substr(0, kAnswerLimit / 2), answer.substr(answer.size() - kAnswerLimit / 2));
}

}  // namespace

std::string FormatRuleSet::name_of(const FormatRule& rule) const { return cat(id, "/", rule.id); }

Dialect FormatRuleSet::as_dialect() const {
  Dialect dialect;
  dialect.id = cat("rules-", id);
  dialect.title = title;
  dialect.family = Dialect::Family::kLayer;
  dialect.framework = dialect.id;
  for (const FormatRule& rule : rules) {
    if (rule.failed.empty()) continue;
    Shape shape;
    shape.make = Maker::kFormat;
    shape.literals = rule.failed;
    shape.regex = rule.failed_regex;
    shape.with = {{"rule", name_of(rule)}, {"failed", "1"}, {"quotes", "true"}};
    dialect.shapes.push_back(std::move(shape));
  }
  if (!verdict.empty()) {
    Shape shape;
    shape.make = Maker::kFormat;
    shape.literals = verdict;
    shape.regex = verdict_regex;
    shape.with = {{"rule", id}};
    dialect.shapes.push_back(std::move(shape));
  }
  dialect.samples = lines;
  return dialect;
}

void FormatRuleSet::judge(std::string_view answer, AnswerPlace place, std::vector<event::FormatJudged>& out) const {
  const std::string kept = shortened(answer);
  const std::string_view whole = trim(kept);
  const std::string low = to_lower(whole);
  for (const FormatRule& rule : rules) {
    if (rule.tests.empty() || (rule.place != AnswerPlace::kAny && rule.place != place)) continue;
    const bool passed =
        std::all_of(rule.tests.begin(), rule.tests.end(), [&](const auto& test) { return holds(test, low, whole); });
    event::FormatJudged judged;
    judged.rule = name_of(rule);
    judged.passed = passed ? 1 : 0;
    judged.failed = passed ? 0 : 1;
    out.push_back(std::move(judged));
  }
}

}  // namespace mw
