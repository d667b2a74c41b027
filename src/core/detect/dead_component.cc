// A reward component that measures whether an answer is right is exactly 0 from the first step on, while the reward
// itself moves: a verifier that cannot read the answers, or a task that is never solved.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kPoints{"points", 20, "points", "A cold start may give nothing for some steps, and then learn",
                       "real runs that learn begin with up to ten zero steps"};
constexpr Knob kKnobs[] = {kPoints};

/// Does the component measure what the run is for? Penalties and bonuses may well be 0 for ever.
bool measures_success(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {"accuracy", "correct", "equation",   "answer",
                                                      "solve",    "success", "exact_match"};
  constexpr std::array<std::string_view, 6> kNot = {"std", "max", "penalty", "incorrect", "format", "length"};
  const auto holds = [name](std::string_view word) { return contains_folded(name, word); };
  return std::any_of(kWords.begin(), kWords.end(), holds) && std::none_of(kNot.begin(), kNot.end(), holds);
}

bool moves(const State& state, JudgeMemory& memory, const Point& until) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    for (size_t i = 1; i < reward.size() && reward.points[i].step <= until.step; ++i) {
      if (reward.values[i] != reward.values[0]) return true;
    }
  }
  return false;
}

void judge_one(const State& state, JudgeMemory& memory, const Series& component, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, &component)) {
    const auto end = std::find_if(track.values.begin(), track.values.end(), [](double value) { return value != 0; });
    const auto zeros = static_cast<size_t>(end - track.values.begin());
    if (zeros < points_of(kPoints)) continue;
    const size_t detected = points_of(kPoints) - 1;
    if (!moves(state, memory, track.points[detected])) continue;
    Finding finding =
        make_finding("dead-component", "zero-reward", Severity::kWarning, track.points[0], track.points[detected],
                     cat(component.raw, " is exactly 0 from the first step on, ", zeros,
                         " records in a row, while the reward moves: no answer was ever judged right"));
    add_figures(finding, track, 0, detected, 3);
    finding.suggests.push_back(
        {"reward-function-broken-all-zero", 0.5, "one component never gives anything, the others do"});
    finding.suggests.push_back({"reward-plateau", 0.3, "the task may be too hard for the model"});
    out.push_back(std::move(finding));
    return;
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Series* series : state.shown()) {
    if (!series->signal.starts_with("reward.component.") || !measures_success(series->signal)) continue;
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
