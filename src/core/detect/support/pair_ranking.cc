#include "core/detect/support/pair_ranking.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr size_t kFew = 5;  // points of a median that noise does not move

/// From where on the loss is worse than that of a guess, to the end; the number of records where it is not.
size_t worse_since(const Track& loss) {
  size_t first = loss.size();
  while (first > 0 && median_of_last(loss.slice(0, first), kFew) > std::log(2.0)) --first;
  if (first == loss.size()) return first;
  while (first < loss.size() && loss.values[first] <= std::log(2.0)) ++first;
  while (first > 0 && loss.values[first - 1] > std::log(2.0)) --first;
  return first;
}

/// It ranked pairs, or at least did no worse than a guess, and then went far beyond a guess's loss.
bool judge_diverged(const Track& right, const Track& loss, std::vector<Finding>& out) {
  const size_t first = worse_since(loss), n = loss.size();
  if (first == 0 || n - first < 2 * points_of(kRecords)) return false;
  const double nats = mean(loss.slice(first, n));
  if (!(nats > 2 * kPairLoss.value)) return false;
  std::vector<double> since;
  for (size_t i = 0; i < right.size(); ++i) {
    if (right.points[i].attempt == loss.points[first].attempt && right.points[i].step >= loss.points[first].step)
      since.push_back(right.values[i]);
  }
  if (since.size() < points_of(kRecords) || !(mean(since) < kPairChance.value)) return false;
  Finding finding =
      make_finding("no-learning", "no-learning", Severity::kCritical, loss.points[first], loss.points[n - 1],
                   cat("Since step ", loss.points[first].step, " the loss is above that of a guess, ",
                       format_short(nats, 3), " in the mean, and of each pair the better answer is found in ",
                       format_short(100 * mean(since), 2), " %: a guess finds 50 %, at a loss of 0.693"));
  add_figures(finding, loss, first > 0 ? first - 1 : 0, n - 1, 4);
  finding.suggests.push_back({"learning-rate-too-high", 0.5, "the loss is far above that of a guess"});
  out.push_back(std::move(finding));
  return true;
}

}  // namespace

const Series* ranked_rightly(const State& state) {
  if (const Series* right = state.find("accuracy.preference"); right != nullptr) return right;
  // A trainer that nobody knows: its "acc" is that of pairs where its loss says so.
  const Series* loss = state.find("loss.total");
  return loss != nullptr && contains_folded(loss->raw, "dpo") ? state.find("reward.pass_rate") : nullptr;
}

bool trains_on_pairs(const State& state) {
  if (ranked_rightly(state) != nullptr || state.find("margin") != nullptr) return true;
  return std::any_of(state.series.begin(), state.series.end(),
                     [](const Series& series) { return contains_folded(series.raw, "rejected"); });
}

bool judge_pairs(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const auto& losses = memory.tracks(state, state.find("loss.total"));
  for (const Track& track : memory.tracks(state, ranked_rightly(state))) {
    const size_t n = track.size(), half = n / 2;
    if (n < 2 * points_of(kRecords) || losses.empty()) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kPairSteps.value) continue;
    if (judge_diverged(track, losses.front(), out)) return true;
    const auto late = track.slice(half, n);
    const double share = mean(late), error = noise(late) / std::sqrt(static_cast<double>(late.size()));
    const Track& loss = losses.front();
    const double nats = mean(loss.slice(loss.size() / 2, loss.size()));
    if (!(share + 2 * error < kPairChance.value) || !(nats >= kPairLoss.value)) continue;
    const bool lost = nats > 2 * kPairLoss.value;  // far worse than the guess that it began as
    if (!lost && trend_score(track.values) > kTrend.value) continue;
    Finding finding =
        make_finding("no-learning", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
                     cat("Of each pair the better answer is found in ", format_short(100 * share, 2),
                         " %, and the loss is ", format_short(nats, 3), ": a guess finds 50 %, at a loss of 0.693"));
    add_figures(finding, track, 0, n - 1, 4);
    add_figure(finding, "loss.total", loss.points.back().step, loss.values.back());
    if (lost) {
      finding.severity = Severity::kCritical;
      finding.suggests.push_back({"learning-rate-too-high", 0.5, "the loss is far above that of a guess"});
    } else {
      finding.suggests.push_back({"weights-not-updating", 0.5, "the loss is that of a guess"});
      finding.suggests.push_back({"reward-plateau", 0.45, "no trend in the share of pairs ranked rightly"});
    }
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

bool judge_guess(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  if (has_reward(state)) return false;
  const auto last_of = [&state](std::string_view word) -> const Series* {
    const auto found = std::find_if(state.eval.begin(), state.eval.end(), [word](const Series& series) {
      return series.count() > 0 && contains_folded(series.raw, word);
    });
    return found == state.eval.end() ? nullptr : &*found;
  };
  const Series* right = last_of("accuracy");
  const Series* loss = last_of("loss");
  if (right == nullptr || loss == nullptr) return false;
  const double share = right->last(), nats = loss->last();
  if (!(share < kPairChance.value) || !(nats >= kPairLoss.value) || nats > 1.5 * kPairLoss.value) return false;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    const size_t n = track.size();
    if (n < 2 * points_of(kRecords)) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kPairSteps.value) continue;
    const double late = mean(track.slice(n / 2, n));
    if (!(late >= kPairLoss.value) || late > 1.5 * kPairLoss.value) continue;
    Finding finding =
        make_finding("no-learning", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
                     cat("The evaluation finds ", format_short(100 * share, 2), " % at a loss of ",
                         format_short(nats, 3), ", and the training loss is ", format_short(late, 3),
                         ": a guess between two finds 50 %, at a loss of 0.693"));
    add_figures(finding, track, 0, n - 1, 4);
    finding.suggests.push_back({"weights-not-updating", 0.5, "the loss is that of a guess between two"});
    finding.suggests.push_back({"reward-plateau", 0.45, "nothing improves"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

}  // namespace mw::detect
