#include "ui/view/format_batches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace mw {

void FormatBatches::hear(const State& state, const Event& event) {
  if (const auto* called = std::get_if<event::ToolCalled>(&event.body)) {
    const std::string function = clip(called->function, 200);
    if (calls_.size() < kToolLimit || calls_.find(function) != calls_.end()) ++calls_[function];
  }
  const auto* judged = std::get_if<event::FormatJudged>(&event.body);
  if (judged == nullptr || event.where.source >= state.sources.size()) return;
  const SourceState& source = state.sources[event.where.source];
  const std::string rule = clip(judged->rule, 200);
  if (rules_.size() >= kRuleLimit && rules_.find(rule) == rules_.end()) return;
  std::vector<Batch>& batches = rules_[rule];
  const auto attempt = static_cast<uint16_t>(std::max(0, source.attempt));
  if (batches.empty() || batches.back().step != source.step || batches.back().attempt != attempt) {
    if (batches.size() >= kBatchLimit) batches.erase(batches.begin());
    batches.push_back({attempt, source.step, 0, 0});
  }
  for (Batch* batch : {&batches.back(), &totals_[rule]}) {
    batch->passed += judged->passed;
    batch->failed += judged->failed;
  }
}

FormatBatches::Batch FormatBatches::total(const std::string& rule) const {
  const auto known = totals_.find(rule);
  return known == totals_.end() ? Batch{} : known->second;
}

uint64_t FormatBatches::calls(const std::string& function) const {
  const auto known = calls_.find(function);
  return known == calls_.end() ? 0 : known->second;
}

const std::vector<FormatBatches::Batch>& FormatBatches::of(const std::string& rule) const {
  const auto known = rules_.find(rule);
  return known == rules_.end() ? none_ : known->second;
}

std::vector<int64_t> FormatBatches::last_steps(size_t most) const {
  uint16_t attempt = 0;
  for (const auto& [rule, batches] : rules_) attempt = std::max(attempt, batches.back().attempt);
  std::set<int64_t> steps;
  for (const auto& [rule, batches] : rules_) {
    for (const Batch& batch : batches) {
      if (batch.attempt == attempt && batch.step != kNoStep) steps.insert(batch.step);
    }
  }
  std::vector<int64_t> last(steps.begin(), steps.end());
  if (last.size() > most) last.erase(last.begin(), last.end() - static_cast<std::ptrdiff_t>(most));
  return last;
}

std::string batch_text(const std::vector<FormatBatches::Batch>& batches, int64_t step, bool counted) {
  const auto at =
      std::find_if(batches.rbegin(), batches.rend(), [step](const auto& batch) { return batch.step == step; });
  if (at == batches.rend()) return "";
  if (!counted) return cat(at->failed, " failed");
  const uint64_t all = at->passed + at->failed;
  const double share = all == 0 ? 0 : 100.0 * static_cast<double>(at->passed) / static_cast<double>(all);
  return cat(std::lround(share), " % (", at->passed, "/", all, ")");
}

}  // namespace mw
