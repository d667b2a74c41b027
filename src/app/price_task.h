// Records what the user says that a run's machines cost.
#pragma once

#include "core/task.h"

namespace mw {

/// Puts it into the journal as a figure of the machine (core/cost.h), once, and again where it is another than the one
/// recorded.
class PriceTask final : public Task {
 public:
  explicit PriceTask(double cost_per_hour) : price_(cost_per_hour) {}
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  double price_;
};

}  // namespace mw
