#include "read/interpret/answer_judge.h"

#include <algorithm>

namespace mw {
namespace {

bool names_field(const FormatRuleSet& set, std::string_view key) {
  return std::any_of(set.fields.begin(), set.fields.end(), [&](const std::string& field) {
    return key == field ||
           (key.size() > field.size() && key.ends_with(field) && key[key.size() - field.size() - 1] == '/');
  });
}

}  // namespace

AnswerJudge::AnswerJudge(const std::vector<std::unique_ptr<FormatRuleSet>>& sets) {
  for (const auto& set : sets) {
    if (!set->fields.empty()) sets_.push_back(set.get());
  }
}

void AnswerJudge::row(std::span<const RowText> texts) {
  for (const FormatRuleSet* set : sets_) {
    for (const RowText& text : texts) {
      if (!names_field(*set, text.key)) continue;
      judged_.clear();
      set->judge(text.value, AnswerPlace::kLast, judged_);
      for (event::FormatJudged& one : judged_) {
        event::FormatJudged& sum = sums_[one.rule];
        sum.rule = one.rule;
        sum.passed += one.passed;
        sum.failed += one.failed;
      }
      ++rows_;
    }
  }
}

std::vector<event::FormatJudged> AnswerJudge::take() {
  std::vector<event::FormatJudged> out;
  out.reserve(sums_.size());
  for (auto& [rule, sum] : sums_) out.push_back(std::move(sum));
  sums_.clear();
  rows_ = 0;
  return out;
}

}  // namespace mw
