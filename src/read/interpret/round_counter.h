// A trainer that writes two lines a step: "[rollout 12] reward: 0.31", then "[update 12/300] loss: 0.1".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "read/interpret/step_place.h"

namespace mw {

/// One per source. A line that numbers a rollout may be of one of many within a step. Only where such lines with a
/// reward have gone with the trainer's steps for a while, one for each, they are its records.
class RoundCounter {
 public:
  /// Where the line says which step it is of, once that is known.
  std::optional<StepPlace> place_of(std::string_view text);
  /// The trainer wrote what it learnt in a step, without a reward.
  void trained(int64_t step);

 private:
  int64_t count_ = kNoStep;  ///< of the last such line
  int64_t lines_ = 0;        ///< since the last record of training
  int64_t step_ = kNoStep;   ///< of that record
  int64_t ahead_ = 0;        ///< by how much the trainer's step is ahead of the count
  int agreed_ = 0;           ///< records in a row before which there was one line for each step
  bool fractions_ = false;   ///< a reward was no whole number: a mean, rather than one answer's
};

}  // namespace mw
