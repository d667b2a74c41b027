#include "core/retention.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

/// The step of the checkpoint with the highest score; the earlier one of two that are alike, as a later one may only
/// carry on the value of an evaluation before it. `resumable`: of those that a run can go back to; another run's, or
/// one whose other half is gone, is none.
int64_t best_of(const std::vector<RetainedCheckpoint>& all, bool resumable) {
  const RetainedCheckpoint* best = nullptr;
  for (const RetainedCheckpoint& one : all) {
    const bool counts = one.shipped || (one.whole && (!resumable || (one.paired && one.own)));
    if (one.score && counts && (best == nullptr || *one.score > *best->score)) best = &one;
  }
  return best == nullptr ? kNoStep : best->step;
}

std::string no_value_of(const RetentionRules& rules) {
  const std::string signal = best_rule(rules.keep_best).signal;
  if (!rules.doubt.empty()) return cat("no value of ", signal, " can be used: ", rules.doubt);
  return cat("no value of ", signal, " is known", rules.known.empty() ? "" : cat(", but of ", rules.known));
}

}  // namespace

BestRule best_rule(std::string_view keep_best) {
  if (keep_best.starts_with("min:")) return {std::string(keep_best.substr(4)), BestRule::Way::kLowest};
  if (keep_best.starts_with("max:")) return {std::string(keep_best.substr(4)), BestRule::Way::kHighest};
  return {std::string(keep_best), BestRule::Way::kByName};
}

std::optional<double> RetentionFacts::score_at(int64_t step) const {
  auto after = scores.upper_bound(step);
  if (step == kNoStep || after == scores.begin()) return std::nullopt;
  const double value = (--after)->second;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<RetentionVerdict> decide_retention(std::vector<RetainedCheckpoint> all, const RetentionRules& rules,
                                               bool has_store) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  int64_t shipped = kNoStep, newest = kNoStep, last = kNoStep, counted = 0;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    const bool resumable = one->whole && one->paired && one->own;
    const bool verified = resumable || one->shipped;
    if (one->shipped && shipped == kNoStep) shipped = one->step;
    if (one->local && resumable && newest == kNoStep) newest = one->step;
    if (verified && counted < rules.keep_last && ++counted == rules.keep_last) last = one->step;
  }
  const int64_t best = rules.keep_best.empty() ? kNoStep : best_of(all, true);
  const int64_t best_weights = rules.keep_best.empty() ? kNoStep : best_of(all, false);
  const bool no_value = !rules.keep_best.empty() && best == kNoStep;
  const auto why_kept = [&](const RetainedCheckpoint& one) -> std::string {
    if (!one.own) return "it is not proven to be this run's";
    if (!one.whole) return "it is not proven to be whole";
    if (one.in_use) return one.use.empty() ? "it is in use" : one.use;
    if (one.step == newest) return "it is the newest whole one here";
    if (rules.keep_last <= 0) return "all are kept";
    if (counted < rules.keep_last || one.step >= last) return cat("it is one of the last ", rules.keep_last);
    if (has_store && (shipped == kNoStep || one.step > shipped)) return "no newer one has been shipped yet";
    if (rules.keep_every > 0 && one.step % rules.keep_every == 0)
      return cat("every ", rules.keep_every, "th step stays");
    if (one.step == best || one.step == best_weights) return cat(best_rule(rules.keep_best).signal, " was best there");
    return "";
  };
  std::vector<RetentionVerdict> out;
  for (const RetainedCheckpoint& one : all) {
    if (!one.local) continue;
    RetentionVerdict verdict{one.step, false, why_kept(one)};
    verdict.no_value = verdict.why.empty() && no_value;
    verdict.goes = verdict.why.empty() && !no_value;
    if (verdict.no_value) verdict.why = no_value_of(rules);
    if (verdict.goes) verdict.why = cat("it is older than the last ", rules.keep_last);
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace mw
