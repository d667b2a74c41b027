// Held-out results fall while training goes on. When the training reward rises at the same time, it is being gamed.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "evaluations", "Best and last pair must not overlap",
                        "field guide 4.3 rule 19 (at least two evaluations)"};
constexpr Knob kDrop{"drop", 0.15, "ratio", "Of the best pair of evaluations",
                     "failure catalogue, reward-hacking (10 %), above the noise of small evaluation sets"};
constexpr Knob kSigma{"sigma", 3, "sigma", "The drop must stand out of the evaluations' own noise", "own"};
constexpr Knob kLossRise{"loss_rise", 0.1, "ratio", "Evaluation loss above its minimum", "early stopping practice"};
constexpr Knob kGain{"reward_gain", 0.1, "ratio", "Rise of the training reward that makes it reward hacking",
                     "failure catalogue, reward-hacking (20 %)"};
constexpr Knob kKnobs[] = {kHistory, kDrop, kSigma, kLossRise, kGain};

enum class Better { kUnknown, kHigher, kLower };

Better better_of(const Series& series) {
  const std::string name = to_lower(series.raw.empty() ? series.signal : series.raw);
  for (const std::string_view word : {"time", "runtime", "per_second", "length", "len", "std", "min", "max", "token",
                                      "count", "num", "epoch", "entropy", "kl"}) {
    if (contains(name, word)) return Better::kUnknown;
  }
  for (const std::string_view word : {"loss", "perplexity", "ppl", "error"}) {
    if (contains(name, word)) return Better::kLower;
  }
  for (const std::string_view word :
       {"acc", "pass", "score", "reward", "mean", "success", "correct", "exact_match", "solve", "win"}) {
    if (contains(name, word)) return Better::kHigher;
  }
  return Better::kUnknown;
}

struct Drop {
  size_t best = 0, detected = 0;
  double level = 0, now = 0;
};

double pair_mean(const Track& track, size_t end) { return (track.values[end] + track.values[end - 1]) / 2; }

/// Best pair of successive evaluations against the last pair.
bool find_drop(const Track& track, bool higher, Drop& found) {
  double best = 0;
  size_t at = 0;
  for (size_t i = 1; i < track.size(); ++i) {
    const double now = pair_mean(track, i);
    if (i >= 3) {
      const double gap = higher ? best - now : now - best;
      const double sigma = noise(track.slice(0, i + 1)) / std::sqrt(2.0);
      const double least = (higher ? kDrop.value : kLossRise.value) * std::abs(best);
      if (i + 1 >= points_of(kHistory) && i >= at + 2 && gap > least && gap > kSigma.value * sigma && gap > 0) {
        found = {at, i, best, now};
        return true;
      }
    }
    if (at == 0 || (higher ? now > best : now < best)) {
      best = now;
      at = i;
    }
  }
  return false;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series& series : state.eval) {
    const Better better = better_of(series);
    if (better == Better::kUnknown) continue;
    for (const Track& track : tracks_of(&series)) {
      Drop drop;
      if (!find_drop(track, better == Better::kHigher, drop)) continue;
      const Point& onset = track.points[std::min(drop.best + 1, drop.detected)];
      const Point& now = track.points[drop.detected];
      const auto reward = shift_of(reward_series(state), onset, now, 10);
      const bool gamed = better == Better::kHigher && reward && reward->relative() > kGain.value;
      const std::string_view kind = gamed ? "reward-hacking" : "eval-regression";
      Finding finding = make_finding("eval-regression", kind, Severity::kWarning, onset, now,
                                     cat(series.raw, better == Better::kHigher ? " fell from " : " rose from ",
                                         drop.level, " to ", drop.now, gamed ? " while the training reward rose" : ""));
      add_figures(finding, track, drop.best, drop.detected);
      if (gamed) {
        finding.suggests.push_back(
            {"reward-hacking", 0.6, cat("training reward rose from ", reward->before, " to ", reward->after)});
        finding.suggests.push_back({"train-eval-divergence", 0.5, "training and held-out results part"});
      } else {
        finding.suggests.push_back({"train-eval-divergence", 0.5, "held-out results fall while training goes on"});
      }
      out.push_back(std::move(finding));
      return;  // one evaluation tells it
    }
  }
}

}  // namespace

extern const Detector eval_regression;
const Detector eval_regression{"eval-regression",
                               "Held-out results fall while training goes on.",
                               {"eval-regression", "reward-hacking"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
