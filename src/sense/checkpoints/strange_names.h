// Checkpoints that lie where a run saves, under names that its framework does not give: nothing of midwatch's looks at
// them, keeps them or goes back to them, until a person says how they are named.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"

namespace mw {

struct StrangeNames {
  std::string folder;   ///< in which they lie
  std::string pattern;  ///< of their names: "checkpoint_{step}"
  std::string example;  ///< one of the names
};

/// In `roots` and the folders directly in them: folders with weights or an optimizer in them that were changed at
/// `since` or later, all named by one pattern that is usual and is not `layout`'s. Nothing where any folder there has a
/// name of `layout`'s, and where the disk does not answer.
std::optional<StrangeNames> find_strange_names(Disk& disk, const std::vector<std::string>& roots,
                                               const CheckpointLayout& layout, Time since);

/// Says so, once in a run, on the terminal and as a note in the journal.
class StrangeNamesTask final : public Task {
 public:
  static constexpr Duration kPeriod = Duration::seconds(5);

  StrangeNamesTask(Clock& clock, std::shared_ptr<Disk> disk, std::vector<std::string> roots,
                   std::function<CheckpointLayout(const std::string& framework)> layout,
                   std::function<void(const std::string& sentence)> say)
      : clock_(clock),
        disk_(std::move(disk)),
        roots_(std::move(roots)),
        layout_(std::move(layout)),
        say_(std::move(say)),
        since_(clock.now()) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  Clock& clock_;
  std::shared_ptr<Disk> disk_;
  std::vector<std::string> roots_;
  std::function<CheckpointLayout(const std::string& framework)> layout_;
  std::function<void(const std::string& sentence)> say_;
  Time since_;  ///< what is older may be another run's
  bool said_ = false;
  BackgroundCall<std::optional<StrangeNames>> call_;
};

}  // namespace mw
