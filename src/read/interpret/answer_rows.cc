#include "read/interpret/answer_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/one_of.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 10> kWhich = {"task_id", "prompt_id",  "problem_id", "question_id", "sample_id",
                                                     "item_id", "example_id", "puzzle_id",  "instance_id", "query_id"};
static_assert(std::all_of(kWhich.begin(), kWhich.end(), [](std::string_view key) { return key.ends_with("_id"); }));
constexpr std::array<std::string_view, 12> kAnswers = {"completion_len",   "completion_length", "completion_tokens",
                                                       "response_len",     "response_length",   "response_tokens",
                                                       "answer_len",       "answer_length",     "output_length",
                                                       "completion_chars", "output_tokens",     "output_len"};
constexpr std::array<std::string_view, 5> kTexts = {"completion", "response", "answer", "output", "prediction"};
constexpr std::array<std::string_view, 6> kProgress = {"epoch", "batch", "round", "iteration", "generation", "update"};

}  // namespace

bool AnswerRows::is_answer(const Row& row) {
  if (row.step != kNoStep) return false;
  // Few rows name a prompt, and what does ends as few names do: the rest is asked of those alone.
  const auto which = [](const auto& one) { return one.key.ends_with("_id") && is_one_of(one.key, kWhich); };
  if (std::none_of(row.texts.begin(), row.texts.end(), which) &&
      std::none_of(row.numbers.begin(), row.numbers.end(), which)) {
    return false;
  }
  bool answer =
      std::any_of(row.texts.begin(), row.texts.end(), [](const RowText& text) { return is_one_of(text.key, kTexts); });
  for (const RowNumber& one : row.numbers) {
    if (axis_rank(one.key) >= 0 || is_one_of(one.key, kProgress) || !std::isfinite(one.value)) return false;
    answer = answer || is_one_of(one.key, kAnswers);
  }
  return answer;
}

bool AnswerRows::add(const Row& row) {
  for (const RowNumber& one : row.numbers) {
    auto found = sums_.find(std::string(one.key));
    if (found == sums_.end()) {
      if (sums_.size() >= kNameLimit) continue;
      found = sums_.emplace(one.key, Sum()).first;
      order_.push_back(&found->first);
    }
    found->second.sum += one.value;
    ++found->second.count;
  }
  return ++rows_ >= kBlock;
}

std::vector<RowNumber> AnswerRows::take() {
  std::vector<RowNumber> means;
  for (const std::string* name : order_) {
    Sum& sum = sums_[*name];
    if (sum.count > 0) means.push_back({*name, sum.sum / static_cast<double>(sum.count)});
    sum = Sum();
  }
  rows_ = 0;
  return means;
}

}  // namespace mw
