// No checkpoint has been saved for far longer than the run's own cadence.
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/step_at_line.h"

namespace mw::detect {
namespace {

constexpr Knob kSaves{"saves", 3, "saves", "A cadence needs a few intervals", "own"};
constexpr Knob kFactor{"factor", 2.5, "x", "Times the usual interval",
                       "field guide 4.3 rule 29 (1.5 x), above a skipped save"};
constexpr Knob kRegular{"regular", 1.5, "x", "Intervals that differ by more are no cadence (best-so-far saves)", "own"};
constexpr Knob kApart{"apart", 2, "x",
                      "A save's number that is so far from the run's step, at each of them, counts otherwise",
                      "DeepSpeed's global_step beside a bar over micro-batches"};
constexpr Knob kFound{"found", 90, "s", "A save of which only the disk shows is found so much later at most",
                      "own: scans of its folder, and until nothing in it changes"};
constexpr Knob kKnobs[] = {kSaves, kFactor, kRegular, kApart, kFound};

struct Save {
  Moment moment;
  int64_t step;
};

/// Saves are numbered by what the trainer counts, which may be optimizer steps beside a bar that counts batches: then
/// the run's own step where each was saved says how far it was.
void count_alike(const State& state, std::vector<Save>& saves) {
  std::vector<int64_t> steps;
  for (const Save& save : saves) {
    steps.push_back(step_at_line(state, save.moment.where, kNoStep));
    const double number = static_cast<double>(save.step), at = static_cast<double>(steps.back());
    if (at <= 0 || (at <= kApart.value * number && number <= kApart.value * at)) return;
  }
  for (size_t i = 0; i < saves.size(); ++i) saves[i].step = steps[i];
}

/// The step up to which a save would be known by now: where the log says nothing of saves, an earlier one.
int64_t step_with_saves(const State& state, const Save& last) {
  const int64_t now = state.attempts.back().last_step;
  if (!state.by_host(last.moment.where)) return now;
  int64_t step = kNoStep;
  for (const Tick& tick : state.ticks) {
    const bool ago = state.ticks.back().at - tick.at >= Duration::seconds(kFound.value);
    if (ago && tick.at >= last.moment.at) step = tick.step;
  }
  return std::min(step, now);
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  if (state.attempts.empty()) return;
  const AttemptState& attempt = state.attempts.back();
  const uint16_t number = static_cast<uint16_t>(state.attempts.size() - 1);
  std::vector<Save> saves;
  for (const auto& [moment, saved] : state.checkpoints) {
    const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
    if (moment.attempt != number || step == kNoStep || !saved.complete) continue;
    if (saves.empty() || step > saves.back().step) saves.push_back({moment, step});
  }
  if (saves.size() < points_of(kSaves) + 1 || attempt.last_step == kNoStep) return;
  count_alike(state, saves);
  std::vector<double> gaps;
  for (size_t i = 1; i < saves.size(); ++i) gaps.push_back(static_cast<double>(saves[i].step - saves[i - 1].step));
  const double cadence = median(gaps);
  if (*std::max_element(gaps.begin(), gaps.end()) > kRegular.value * cadence) return;
  const int64_t reached = step_with_saves(state, saves.back());
  const double since = static_cast<double>(reached - saves.back().step);
  if (reached == kNoStep || since < kFactor.value * cadence) return;
  Finding finding;
  finding.kind = finding.detector = "checkpoint-overdue";
  finding.onset = saves.back().moment;
  finding.onset.step = saves.back().step + static_cast<int64_t>(cadence);
  finding.detected = attempt.last;
  finding.summary = cat("No checkpoint since step ", saves.back().step, " although one was saved every ", cadence,
                        " steps; the run is at step ", attempt.last_step);
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector checkpoint_overdue;
const Detector checkpoint_overdue{"checkpoint-overdue",
                                  "No checkpoint for far longer than the run's own cadence.",
                                  {"checkpoint-overdue"},
                                  kKnobs,
                                  judge};

}  // namespace mw::detect
