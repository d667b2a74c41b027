// A reward component that measures whether an answer is right is exactly 0 from the first step on, while the reward
// itself moves: a verifier that cannot read the answers, or a task that is never solved.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/support/settled.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/true_measure.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kPoints{"points", 20, "points", "A cold start may give nothing for some steps, and then learn",
                       "real runs that learn begin with up to ten zero steps"};
constexpr Knob kOver{"over", 10, "points", "The same of a run that is over: nothing is learned any more", "own"};
constexpr Knob kGives{"gives", 0.05, "ratio", "Mean of another component, of its range, by which answers are in form",
                      "own"};
constexpr Knob kPays{"pays", 3, "points", "So many records above 0 since, and the whole is over", "own"};
constexpr Knob kPaysShare{"pays_share", 0.1, "ratio", "Of the records since the first of them", "own"};
constexpr Knob kKnobs[] = {kPoints, kOver, kGives, kPays, kPaysShare};

bool varies(const State& state, JudgeMemory& memory, const Series* series, const Point& until) {
  for (const Track& track : memory.tracks(state, series)) {
    for (size_t i = 1; i < track.size() && track.points[i].step <= until.step; ++i) {
      if (track.values[i] != track.values[0]) return true;
    }
  }
  return false;
}

/// Does the reward move, or a part of it, where the reward is recorded seldom or not at all?
bool moves(const State& state, JudgeMemory& memory, const Series& dead, const Point& until) {
  if (const Series* reward = reward_series(state); reward != nullptr && varies(state, memory, reward, until))
    return true;
  const std::vector<const Series*> all = state.shown();
  return std::any_of(all.begin(), all.end(), [&](const Series* series) {
    return series != &dead && series->signal.starts_with("reward.component.") && varies(state, memory, series, until);
  });
}

/// Does another component give a good part of what it may, so that the answers are not at fault?
bool others_give(const State& state, JudgeMemory& memory, const Series& dead, const Point& until) {
  for (const Series* series : state.shown()) {
    if (series == &dead || !series->signal.starts_with("reward.component.")) continue;
    if (contains_folded(series->signal, "std")) continue;
    for (const Track& track : memory.tracks(state, series)) {
      double sum = 0, most = 0;
      size_t n = 0;
      for (size_t i = 0; i < track.size() && track.points[i].step <= until.step; ++i, ++n) {
        sum += track.values[i];
        most = std::max(most, track.values[i]);
      }
      if (n > 0 && sum > kGives.value * std::max(1.0, most) * static_cast<double>(n)) return true;
    }
  }
  return false;
}

/// Does a component that gave nothing for the first `zeros` records give something time and again since?
bool pays_since(const Track& track, size_t zeros) {
  const auto rest = track.slice(zeros, track.size());
  const auto paid = std::count_if(rest.begin(), rest.end(), [](double value) { return value > 0; });
  const double least = std::max(kPays.value, kPaysShare.value * static_cast<double>(rest.size()));
  return static_cast<double>(paid) >= least;
}

void judge_one(const State& state, JudgeMemory& memory, const Series& component, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, &component)) {
    const auto end = std::find_if(track.values.begin(), track.values.end(), [](double value) { return value != 0; });
    const auto zeros = static_cast<size_t>(end - track.values.begin());
    const bool over = zeros == track.size() && !track.points.empty() && is_over(state, track.points.back().attempt);
    const size_t least = points_of(over ? kOver : kPoints);
    if (zeros < least) continue;
    const size_t detected = least - 1;
    if (!moves(state, memory, component, track.points[detected])) continue;
    const bool pays = pays_since(track, zeros);
    Finding finding = make_finding("dead-component", "zero-reward", pays ? Severity::kInfo : Severity::kWarning,
                                   track.points[0], track.points[detected],
                                   cat(component.raw, pays ? " was" : " is", " exactly 0 from the first step on, ",
                                       zeros, " records in a row, while the reward moves: no answer ",
                                       pays ? "was judged right" : "was ever judged right",
                                       pays ? cat(" before step ", track.points[zeros].step) : ""));
    if (pays) resolve(finding, track.points[zeros]);
    add_figures(finding, track, 0, detected, 3);
    const bool formed = others_give(state, memory, component, track.points[detected]);
    const Finding::Suggestion broken{"reward-function-broken-all-zero", formed ? 0.5 : 0.3,
                                     "one component never gives anything, the others do"};
    const Finding::Suggestion hard{"reward-plateau", formed ? 0.3 : 0.5,
                                   formed ? "the task may be too hard for the model"
                                          : "the other components hardly give anything either: the task is too hard"};
    finding.suggests = formed ? std::vector{broken, hard} : std::vector{hard, broken};
    out.push_back(std::move(finding));
    return;
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Series* series : state.shown()) {
    if (!series->signal.starts_with("reward.component.") || !names_success(series->signal)) continue;
    judge_one(state, memory, *series, out);
  }
}

}  // namespace

extern const Detector dead_component;
const Detector dead_component{"dead-component",
                              "A reward component that measures success is exactly 0 from the first step on.",
                              {"zero-reward"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
