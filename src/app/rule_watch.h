// A rule whose figure never comes would be silent for ever: that is reported, once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/knowledge.h"
#include "core/state.h"
#include "core/task.h"
#include "platform/clock.h"

namespace mw {

/// A sentence for each rule that looks at something of which a run of at least `steps` steps has shown nothing.
std::vector<std::string> idle_rules(const State& state, const Knowledge& knowledge, int64_t steps);

class RuleWatch final : public Task {
 public:
  static constexpr int64_t kSteps = 50;  ///< by which whatever a trainer measures was seen
  static constexpr Duration kPeriod = Duration::seconds(10);

  /// `say` may be empty.
  RuleWatch(Clock& clock, const Knowledge& knowledge, std::function<void(const std::string&)> say)
      : clock_(clock), knowledge_(knowledge), say_(std::move(say)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override { report(state, writer); }  // of a short run

 private:
  void report(const State& state, EventWriter& writer);

  Clock& clock_;
  const Knowledge& knowledge_;
  std::function<void(const std::string&)> say_;
  Duration due_;
  bool reported_ = false;
};

}  // namespace mw
