// The counters that an optimizer keeps of its own steps, one for each parameter or group ("state.0.step",
// "param_groups.0.step"): a number in the pickle, or a tensor of one number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/dtype.h"

namespace mw {

struct OptimizerCounter {
  std::string name;              ///< keys of the dicts that lead to it
  std::optional<int64_t> value;  ///< where the pickle has it
  uint64_t at = 0;               ///< else: where its bytes lie in the file
  Dtype dtype = Dtype::kOther;
};

/// By its path: the last key is "step", and it lies in an optimizer's state or group of parameters.
bool is_step_counter(std::string_view path);

/// By its path in a pickle: a whole number by which a trainer, its scheduler or its engine counts steps.
bool is_trainer_counter(std::string_view path);

/// That are kept of one file. Whoever holds the same parameters keeps the same ones, and of sets that overlap some are
/// in both: those whose names have the lowest hashes stay.
constexpr size_t kOptimizerCounters = 16;
void keep_lowest(std::vector<OptimizerCounter>& counters);

/// The whole number that it counts; nothing where it is none, or cannot be read.
std::optional<int64_t> steps_counted(const OptimizerCounter& counter, ReadFile& file);

/// A number of that kind in its bytes, where it is whole and not negative.
std::optional<int64_t> whole_number(Dtype dtype, std::string_view bytes);
/// Likewise of a number with a point.
std::optional<int64_t> whole_number(double value);

}  // namespace mw
