// Judges the answers that records of structured files hold, by the rule sets that ask for them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/event.h"
#include "read/books/format_rules.h"
#include "read/lines/row.h"

namespace mw {

/// One per source. Verdicts are counted and emitted every kRowsPerEvent rows, so that a dump of a million answers does
/// not become seven million events.
class AnswerJudge {
 public:
  static constexpr size_t kRowsPerEvent = 256;

  explicit AnswerJudge(const std::vector<std::unique_ptr<FormatRuleSet>>& sets);
  /// Looks for fields that a rule set names (whole keys, or their last part) and judges their text as the last answer
  /// of an episode.
  void row(std::span<const RowText> texts);
  bool due() const { return rows_ >= kRowsPerEvent; }
  /// What was judged since the last call.
  std::vector<event::FormatJudged> take();

 private:
  std::vector<const FormatRuleSet*> sets_;  // only those that name fields
  std::map<std::string, event::FormatJudged> sums_;
  std::vector<event::FormatJudged> judged_;  // scratch
  size_t rows_ = 0;
};

}  // namespace mw
