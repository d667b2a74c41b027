// Gives whoever looks at a live run the state, now and then.
#pragma once

#include <cstdint>
#include <deque>

#include "api/requests.h"
#include "core/task.h"
#include "platform/clock.h"

namespace mw {

/// At most four times a second while events come, once a second while none do. It judges nothing and writes nothing.
class LiveView final : public Task {
 public:
  LiveView(Clock& clock, const ShowLive& show) : clock_(clock), show_(show) {}
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  void note_step(const State& state);
  void note_checkpoint(const State& state);

  Clock& clock_;
  const ShowLive& show_;
  LiveFacts facts_;
  bool began_ = false;
  uint64_t events_ = 0;
  Duration shown_, stepped_;  // by the steady clock
  size_t attempts_ = 0;
  int64_t step_ = kNoStep;
  int64_t saved_ = kNoStep;
  std::deque<double> waits_;  // s, between the last steps
};

}  // namespace mw
