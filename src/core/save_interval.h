// How often a run should save, by what its saves cost and how long its attempts last (Daly's approximation).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/state.h"

namespace mw {

struct SaveInterval {
  int64_t steps = 0;    ///< between saves of the last attempt
  int64_t best = 0;     ///< at which saves and steps that are done again cost least
  double save_s = 0;    ///< one save takes
  double step_s = 0;    ///< one step takes
  double lasts_s = 0;   ///< an attempt, on average
  bool failed = false;  ///< one did; else that is an estimate of a run that never has
  double upload_s = 0;  ///< to ship a checkpoint takes; 0: none was shipped
  double lost = 0;      ///< share of the time that `steps` costs beyond `best`
};

/// s that a step takes, and that a save takes, as the median of the last ones; 0: not known.
double step_seconds(const State& state);
double save_seconds(const State& state);

/// nullopt while one of the figures is not known: a run of less than a day without a failure, one without times of
/// steps or of saves, or that saves irregularly.
std::optional<SaveInterval> save_interval(const State& state);

/// "every 100 steps (33 min); every 21 (7 min) would cost least: …"; "" where the difference is none to speak of.
std::string save_advice(const State& state);
/// The same as a change of the trainer's settings, "trainer.save_freq: 100 -> 21"; `setting` is what the framework
/// calls its steps between saves. "" without advice, or where the framework has no such setting.
std::string save_change(const State& state, std::string_view setting);

}  // namespace mw
