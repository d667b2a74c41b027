#include "core/retention.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

/// The step of the checkpoint with the highest score; the earlier one of two that are alike, as a later one may only
/// carry on the value of an evaluation before it. `resumable`: of those that a run can go back to; another run's, or
/// one whose other half is gone, is none. `sound`: of those that nothing speaks against.
int64_t best_of(const std::vector<RetainedCheckpoint>& all, bool resumable, bool sound) {
  const RetainedCheckpoint* best = nullptr;
  for (const RetainedCheckpoint& one : all) {
    const bool counts = one.shipped || (one.whole && (!resumable || (one.paired && one.own)));
    if (sound && !one.spoiled.empty()) continue;
    if (one.score && counts && (best == nullptr || *one.score > *best->score)) best = &one;
  }
  return best == nullptr ? kNoStep : best->step;
}

/// The steps on which the verdicts over one run's checkpoints rest.
struct Counts {
  int64_t shipped = kNoStep;  ///< the newest in the store that nothing speaks against
  int64_t newest = kNoStep;   ///< here, that a run could resume from
  int64_t last = kNoStep;     ///< the oldest of the last ones; kNoStep: there are not that many
  int64_t sound = kNoStep;    ///< as `newest`, of those that nothing speaks against
  int64_t last_sound = kNoStep;
  int64_t read = kNoStep;  ///< as `sound`, of which all bytes were read
  std::set<int64_t> best;
};

/// Of all by ascending step.
Counts count(const std::vector<RetainedCheckpoint>& all, const RetentionRules& rules) {
  Counts out;
  int64_t counted = 0, sound = 0;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    const bool resumable = one->whole && one->paired && one->own, fine = one->spoiled.empty();
    const bool verified = resumable || one->shipped, here = one->local && resumable;
    if (one->shipped && fine && out.shipped == kNoStep) out.shipped = one->step;
    if (here && out.newest == kNoStep) out.newest = one->step;
    if (here && fine && out.sound == kNoStep) out.sound = one->step;
    if (here && fine && one->read && out.read == kNoStep) out.read = one->step;
    if (verified && counted < rules.keep_last && ++counted == rules.keep_last) out.last = one->step;
    if (verified && fine && sound < rules.keep_last && ++sound == rules.keep_last) out.last_sound = one->step;
  }
  if (rules.keep_best.empty()) return out;
  for (const bool resumable : {true, false}) {
    for (const bool fine : {true, false}) out.best.insert(best_of(all, resumable, fine));
  }
  return out;
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

std::string RetentionFacts::found_unsound(int64_t step) const {
  const auto found = unsound.find(step);
  return found == unsound.end() ? "" : found->second;
}

bool RetentionFacts::any_shipped() const {
  return !shipped.empty() ||
         std::any_of(earlier.begin(), earlier.end(), [](const auto& one) { return !one.second.empty(); });
}

RetentionFacts::Lost RetentionFacts::lose_shipped(const StoreSteps& there) {
  Lost lost;
  const auto lose = [&there, &lost](std::set<int64_t>& steps) {
    lost.gone += std::erase_if(steps, [&there](int64_t step) { return !there.has(step); });
    lost.forgotten += std::erase_if(steps, [&there](int64_t step) { return there.usable.count(step) == 0; });
  };
  lose(shipped);
  for (auto& [folder, steps] : earlier) lose(steps);
  lost.forgotten += lost.gone;
  return lost;
}

std::string RetentionFacts::spoiled(int64_t step) const {
  if (std::string why = found_unsound(step); !why.empty()) return why;
  if (onset != kNoStep && step >= onset && in_time.count(step) == 0) return cat("it was saved since ", trouble);
  if (left.count(step) != 0) return "the run went on from before it";
  return "";
}

void keep_before_turn(const RetentionFacts& facts, std::vector<RetainedCheckpoint>& all) {
  RetainedCheckpoint* newest = nullptr;
  for (RetainedCheckpoint& one : all) {
    const bool before = facts.turned != kNoStep && one.step < facts.turned && one.local;
    const bool resumable = one.own && one.whole && one.paired && one.spoiled.empty();
    if (before && resumable && (newest == nullptr || one.step > newest->step)) newest = &one;
  }
  if (newest != nullptr && newest->advised.empty()) newest->advised = cat("it is the newest from before ", facts.turn);
}

std::vector<RetentionVerdict> decide_retention(std::vector<RetainedCheckpoint> all, const RetentionRules& rules,
                                               bool has_store) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  const Counts counts = count(all, rules);
  const bool no_value = !rules.keep_best.empty() && best_of(all, true, false) == kNoStep;
  const auto why_kept = [&](const RetainedCheckpoint& one) -> std::string {
    const bool sound = one.spoiled.empty();
    if (!one.own) return "it is not proven to be this run's";
    if (!one.whole) return "it is not proven to be whole";
    if (one.in_use) return one.use.empty() ? "it is in use" : one.use;
    if (!one.advised.empty()) return one.advised;
    if (one.step == counts.newest) return "it is the newest whole one here";
    if (one.step == counts.sound) return "it is the newest one here that nothing speaks against";
    if (rules.keep_last <= 0) return "all are kept";
    if (counts.last == kNoStep || one.step >= counts.last) return cat("it is one of the last ", rules.keep_last);
    if (sound && (counts.last_sound == kNoStep || one.step >= counts.last_sound))
      return cat("it is one of the last ", rules.keep_last, " that nothing speaks against");
    if (one.step == counts.read) return "it is the newest one of which all bytes were read and found sane";
    if (has_store && (counts.shipped == kNoStep || one.step > counts.shipped))
      return "no newer one has been shipped yet";
    if (rules.keep_every > 0 && one.step % rules.keep_every == 0)
      return cat("every ", rules.keep_every, "th step stays");
    if (counts.best.count(one.step) != 0) return cat(best_rule(rules.keep_best).signal, " was best there");
    return "";
  };
  std::vector<RetentionVerdict> out;
  for (const RetainedCheckpoint& one : all) {
    if (!one.local) continue;
    RetentionVerdict verdict{one.step, false, why_kept(one)};
    verdict.advised = !one.advised.empty() && verdict.why == one.advised;
    verdict.no_value = verdict.why.empty() && no_value;
    verdict.goes = verdict.why.empty() && !no_value;
    if (verdict.no_value) verdict.why = no_value_of(rules);
    if (verdict.goes) verdict.why = cat("it is older than the last ", rules.keep_last);
    if (!one.spoiled.empty()) verdict.why += cat(verdict.goes ? ", and " : ", but counts for none: ", one.spoiled);
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace mw
