// Says in one line where a run saves, when that is not the folder that was declared for its checkpoints.
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

struct SavesWhereScope {
  std::shared_ptr<Disk> disk;
  std::vector<std::string> declared;  ///< folders, without links; none: there is nothing to say
  std::string folder;                 ///< in which the command works
  std::function<CheckpointLayout(const std::string& framework)> layout;
  std::function<void(const std::string& sentence)> say;
};

class SavesWhereTask final : public Task {
 public:
  SavesWhereTask(Clock& clock, SavesWhereScope scope) : clock_(clock), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  Clock& clock_;
  SavesWhereScope scope_;
  bool said_ = false;
  BackgroundCall<std::optional<std::string>> call_;  // the sentence; unset: the folder is not there yet
};

}  // namespace mw
