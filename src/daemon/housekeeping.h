// Frees space that a run's own leftovers take, beside the watch: old checkpoints as [retention] says, and, when a disk
// is full or nearly, what [free-space] names. Every deletion is in the journal, durably, before it is done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/attach.h"
#include "daemon/free_plan.h"
#include "platform/aside.h"
#include "platform/clock.h"
#include "platform/remove_tree.h"

namespace mw {

struct HousekeepingScope {
  std::unique_ptr<Disk> disk;
  FreeScope places;  ///< `layout` is filled in as the framework becomes known
  FreeSettings settings;
  std::function<CheckpointLayout(const std::string& framework)> layout;
  std::function<Result<Removed>(const std::string& root, const std::string& below)> remove;  ///< remove_tree()
  std::function<void(const std::string& sentence)> say;
};

class Housekeeping final : public Companion {
 public:
  static constexpr Duration kAgain = Duration::seconds(60);     ///< between two plans for the same trouble
  static constexpr Duration kLongest = Duration::seconds(120);  ///< that a restart waits for space

  Housekeeping(Clock& clock, HousekeepingScope scope) : clock_(clock), scope_(std::move(scope)) {}
  ~Housekeeping() override;

  std::optional<Duration> turn(const State& state, bool quiet, Notebook& notebook) override;
  /// An attempt ended for want of space: has some been made since? Empty while that is being done: ask again.
  std::optional<bool> made_room(const State& state);

 private:
  using Plan = std::vector<FreeItem>;
  void settle_doubts(const State& state, Notebook& notebook);
  void begin_plan(const State& state, bool space);
  void take_plan(Plan plan, Notebook& notebook);
  void take_removed(const Result<Removed>& removed, Notebook& notebook);
  bool remove_next(Notebook& notebook);

  Clock& clock_;
  HousekeepingScope scope_;
  bool doubts_settled_ = false;
  bool for_space_ = false;  ///< the present plan, else it is for retention
  uint32_t incident_ = 0;   ///< because of which
  uint32_t told_of_ = 0;    ///< incident of which people were told what could go
  size_t whole_seen_ = 0;   ///< looks at checkpoints up to which retention was done
  Plan plan_;               ///< what is still to go
  uint32_t deed_ = 0;       ///< number of the deletion that is out
  std::string path_;        ///< what it deletes
  int64_t freed_ = 0;       ///< bytes, since made_room() was last answered
  std::optional<Duration> planned_, asked_;
  bool asked_done_ = false;  ///< the plan for made_room() was begun
  Aside<std::unique_ptr<Plan>> planning_;
  Aside<Result<Removed>> removing_;
};

}  // namespace mw
