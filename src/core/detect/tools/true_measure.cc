#include "core/detect/tools/true_measure.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/state.h"

namespace mw::detect {

namespace {

/// What the environment itself pays, beside what is given for the form of the answers: a level.
bool is_environments(const Series& series) {
  if (series.signal.rfind("reward.component.", 0) != 0) return false;
  const std::string name = to_lower(series.raw);
  if (!contains(name, "env_reward") && !contains(name, "environment_reward")) return false;
  return !contains(name, "std") && !contains(name, "min") && !contains(name, "max");
}

}  // namespace

bool names_success(std::string_view name) {
  constexpr std::array<std::string_view, 13> kWords = {"accura", "correct",  "solve",    "success", "pass",
                                                       "exact",  "equation", "answer",   "true",    "gold",
                                                       "ground", "outcome",  "unit_test"};
  constexpr std::array<std::string_view, 17> kNot = {"std", "min", "max", "count", "length", "format", "minus", "gap",
                                                     "penal", "overlong", "too_long", "repetit", "incorrect",
                                                     // settings of the reward
                                                     "weight", "coef", "schedule", "threshold"};
  const auto holds = [name](std::string_view word) { return contains_folded(name, word); };
  return std::any_of(kWords.begin(), kWords.end(), holds) && std::none_of(kNot.begin(), kNot.end(), holds);
}

bool is_true_measure(const Series& series) {
  if (series.signal == "reward.pass_rate") return true;
  if (series.signal.rfind("reward.component.", 0) != 0) return false;
  return names_success(series.raw);
}

bool nothing_was_right(const State& state, uint16_t attempt, int64_t from, int64_t to) {
  return std::any_of(state.series.begin(), state.series.end(), [=](const Series& series) {
    if (!is_true_measure(series)) return false;
    bool any = false;
    for (const Point& point : series.points()) {
      if (point.attempt != attempt || point.step < from || point.step > to) continue;
      if (point.value != 0) return false;
      any = true;
    }
    return any;
  });
}

bool hardly_anything_was_right(const State& state, uint16_t attempt, int64_t from, int64_t to) {
  constexpr double kNextToNothing = 0.02;
  return std::any_of(state.series.begin(), state.series.end(), [=](const Series& series) {
    if (!is_true_measure(series) && !is_environments(series)) return false;
    double sum = 0;
    size_t count = 0;
    for (const Point& point : series.points()) {
      if (point.attempt != attempt || point.step < from || point.step > to) continue;
      if (!(point.value >= 0)) return false;
      sum += point.value;
      ++count;
    }
    return count > 0 && sum <= kNextToNothing * static_cast<double>(count);
  });
}

}  // namespace mw::detect
