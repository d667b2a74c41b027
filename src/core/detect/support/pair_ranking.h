// Training on pairs of answers, of which one is better: whether it ranks them any better than a guess does.
#pragma once

#include <vector>

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw {
class JudgeMemory;
}

namespace mw::detect {

// They stand in the table of the detector "no-learning".
inline constexpr Knob kRecords{"records", 5, "points",
                               "Zero learning rate or a loss above chance, in all of so many records",
                               "warm-up begins at zero but leaves it within a record or two"};
inline constexpr Knob kTrend{"trend", 2, "sigma", "Mann-Kendall score; a smaller rise is no rise", "Mann 1945"};
inline constexpr Knob kPairSteps{"pair_steps", 100, "steps",
                                 "Training on pairs ranks them better than by chance within this",
                                 "own; a DPO run gains most of its accuracy in its first hundred steps"};
inline constexpr Knob kPairChance{"pair_chance", 0.58, "ratio",
                                  "Share of pairs ranked rightly below which, two standard errors added, it is chance",
                                  "own"};
inline constexpr Knob kPairLoss{"pair_loss", 0.683, "nats", "And the loss has not fallen below this",
                                "ln 2 = 0.693 is the logistic loss of a guess (Rafailov 2023, equation 7)"};

/// The share of pairs that are ranked rightly, where the run trains on pairs; nullptr where it does not.
const Series* ranked_rightly(const State& state);

/// Does the run train on pairs, by the names of its figures?
bool trains_on_pairs(const State& state);

/// Pairs whose better one is found no more often than by guessing, at the loss of a guess or far above it.
bool judge_pairs(const State& state, JudgeMemory& memory, std::vector<Finding>& out);

/// The evaluation of a model that chooses between two (a reward model, a judge) finds the right one no more often than
/// a guess does, at the loss of a guess. A language model whose loss is as small is right far more often.
bool judge_guess(const State& state, JudgeMemory& memory, std::vector<Finding>& out);

}  // namespace mw::detect
