// Format rules: what an answer must look like, by rule (docs/formats/rules.md). A rule is known by the line that a
// trainer logs when an answer breaks it, by a test of the answer's text, or both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "read/books/dialect.h"
#include "read/match/regex.h"

namespace mw {

/// Which answer of an episode is judged.
enum class AnswerPlace : uint8_t { kAny, kLast, kNotLast };

/// One condition on an answer's text. ASCII case is ignored; so is white space at both ends.
struct AnswerTest {
  enum class Kind : uint8_t { kStartsWith, kEndsWith, kCount, kFirstOf, kMatches, kLacks };
  Kind kind = Kind::kStartsWith;
  std::vector<std::string> texts;  ///< in lower case: any of them (kStartsWith, kEndsWith), the one (kCount), the
                                   ///< candidates (kFirstOf)
  std::string after;               ///< kFirstOf: looked for behind the first of these; "" from the beginning
  std::string is;                  ///< kFirstOf: the candidate that must come first
  uint64_t least = 0, most = UINT64_MAX;  ///< kCount
  std::optional<Regex> regex;             ///< kMatches, kLacks
};

struct FormatRule {
  std::string id;     ///< within its set: "ends-with-action"
  std::string title;  ///< what is asked for, in a few words
  AnswerPlace place = AnswerPlace::kAny;
  std::vector<std::string> failed;  ///< literals of the log line that reports a failure: any of them
  std::string failed_regex;         ///< narrows them down; RE2, on the message
  std::vector<AnswerTest> tests;    ///< all must hold; none: only the log states the verdict
};

/// One file of knowledge/rules.
struct FormatRuleSet {
  std::string id;
  std::string title;
  std::vector<std::string> verdict;  ///< literals of the line that states an answer's verdict as a whole
  std::string verdict_regex;         ///< its capture "verdict" says it
  std::vector<std::string> fields;   ///< names of record fields that hold answers ("response"); none: no text is judged
  std::vector<FormatRule> rules;
  struct Sample {
    std::string answer;
    AnswerPlace place = AnswerPlace::kAny;
    std::string broken;  ///< the first rule that it breaks; "" when it breaks none
    uint32_t line = 0;   ///< in the file
  };
  std::vector<Sample> samples;
  std::vector<Dialect::Sample> lines;  ///< log lines and what they become, as in a dialect file

  /// The name under which a rule is counted: "<set>/<rule>".
  std::string name_of(const FormatRule& rule) const;
  /// The log shapes of the set as a dialect of the family "layer", so that the one pattern automaton finds them.
  Dialect as_dialect() const;
  /// Judges one answer by every rule that has tests and applies at `place` (kAny: not known, so only the rules for any
  /// place apply). One event for each.
  void judge(std::string_view answer, AnswerPlace place, std::vector<event::FormatJudged>& out) const;
};

/// Longest answer that is judged, in bytes; the middle of a longer one is not looked at.
constexpr size_t kAnswerLimit = size_t{1} << 20;

/// Reads one rule file. Errors read "path:line: what is wrong".
/// `built_in`: the tests compile its expressions, and they are compiled when an answer needs them.
Result<FormatRuleSet> parse_format_rules(std::string_view toml, std::string_view path, bool built_in = false);

/// The built-in rule sets. Fails only when one of them is broken, which is a fault of the build.
Result<std::vector<FormatRuleSet>> built_in_format_rules();

}  // namespace mw
