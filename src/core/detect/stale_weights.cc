// An engine answers the same question as it did steps ago, to the last bit, and did not before: the trainer's weights
// no longer reach it.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kSame{"same", 5, "steps", "Asynchronous runs send their weights every few steps", "own"};
constexpr Knob kOwn{"own_longest", 3, "longest stretches", "A run that sends them more seldom does so regularly",
                    "own"};
constexpr Knob kChanges{"changes", 3, "changes", "A judge's or a reference's engine never changes, and need not",
                        "own"};
constexpr Knob kRate{"rate", 0.1, "of the highest learning rate",
                     "At the end of a schedule the weights hardly move, and in bf16 not at all", "own"};
constexpr Knob kKnobs[] = {kSame, kOwn, kChanges, kRate};

/// Did the trainer make other weights in these steps? Yes where nothing shows it.
bool trained(const State& state, int64_t from, int64_t to) {
  const auto none = [&](std::string_view signal, double share) {
    const Series* series = state.find(signal);
    if (series == nullptr) return false;
    double highest = 0;
    bool any = false, moved = false;
    for (const Point& point : series->points()) {
      highest = std::max(highest, point.value);
      if (point.step <= from || point.step > to) continue;
      any = true;
      moved = moved || (point.value > 0 && point.value >= share * highest);
    }
    return any && !moved;
  };
  return !none("grad_norm", 0) && !none("lr", kRate.value);
}

/// Of the stretches before `point` in its attempt: those whose end was seen.
double longest_before(const Series& series, const Point& point) {
  double longest = 0, last = 0;
  for (const Point& before : series.points()) {
    if (before.at >= point.at) break;
    if (before.attempt != point.attempt) continue;
    if (before.value <= last) longest = std::max(longest, last);
    last = before.value;
  }
  return longest;
}

bool is_stale(const State& state, const Series& series, const Point& point) {
  if (point.value < kSame.value || point.value < kOwn.value * longest_before(series, point)) return false;
  const double changes = host_value(state, "engine.answer_changes", series.raw, point.at).value_or(0);
  const int64_t step = point.step != kNoStep ? point.step : state.step_at(point.at);
  if (changes < kChanges.value || step == kNoStep) return false;
  return trained(state, step - static_cast<int64_t>(point.value), step);
}

Finding finding_of(const State& state, const Episode& episode, const Series& series) {
  const auto same = static_cast<int64_t>(episode.first.value);
  Finding finding = host_finding(
      state, "stale-weights", "policy-mismatch", Severity::kWarning, episode, series,
      cat(series.raw, " has answered the same question to the last bit over ", same,
          " steps, while its answers changed with the steps before: the trainer's weights do not reach it any more"));
  finding.onset.step = std::max<int64_t>(0, finding.onset.step - same);
  finding.suggests.push_back(
      {"weights-stale-after-reload", 0.75, cat("the same answer over ", same, " steps of training")});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* series : host_series(state, "engine.same_answer")) {
    EpisodeRule rule;
    rule.bad = [&](const Point& point) { return is_stale(state, *series, point); };
    rule.good = [](const Point& point) { return point.value <= 0; };
    rule.low = false;
    for (const Episode& episode : episodes(state, *series, rule)) out.push_back(finding_of(state, episode, *series));
  }
}

}  // namespace

extern const Detector stale_weights;
const Detector stale_weights{"stale-weights",
                             "An engine answers as it did steps ago: it does not get the trainer's weights.",
                             {"policy-mismatch"},
                             kKnobs,
                             judge};

}  // namespace mw::detect
