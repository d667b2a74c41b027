// Deletes a run's own stale resources while the run is watched: old checkpoints as [retention] says; what [cleanup]
// names when a disk or shared memory is full or nearly full; and what a person requests. Every deletion is durably in
// the journal before it is done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "act/cleanup/cleanup_result.h"
#include "act/supervise/run_files.h"
#include "core/supervise/run_ask.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/remove_tree.h"

namespace mw {

struct CleanupTaskScope {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<System> system;
  std::shared_ptr<Processes> processes;
  int64_t user = -1;  ///< only files of this user may be deleted
  CleanupPlaces places;
  CleanupSettings settings;
  std::function<CheckpointLayout(const std::string& framework)> layout;
  std::function<bool(const std::string& root, const std::string& name, const Identity& only)> unheld;
  std::function<Result<Removed>(System& system, const CleanupItem& item)> remove;  ///< of remove_item.h
  std::function<void(const std::string& sentence)> say;
  std::function<bool()> holds = [] { return true; };  ///< an attempt is running
  /// Writes a small file so that it is there whole or not at all.
  std::function<Result<void>(const std::string& path, std::string_view text)> write = nullptr;
  /// Decides whose a checkpoint is; called for each plan. Unset: no checkpoint is proven to be the run's.
  std::function<Ownership(Disk& disk, const State& state, const CheckpointLayout& layout)> own = nullptr;
  bool has_store = false;                                  ///< the run ships its checkpoints
  Duration store_wait = Duration::seconds(600);            ///< for them, at most, that a restart waits for space
  std::function<Result<StoreSteps>()> in_store = nullptr;  ///< as of CleanupScope; asked from another thread
};

class CleanupTask final : public Task {
 public:
  static constexpr Duration kAgain = Duration::seconds(60);     ///< between two plans for the same trouble
  static constexpr Duration kFutile = Duration::seconds(600);   ///< likewise, where nothing of this run's would do
  static constexpr Duration kAtEnd = Duration::seconds(15);     ///< for the last deletions of a run that is over
  static constexpr Duration kAtStop = Duration::seconds(5);     ///< likewise, where somebody stops it
  static constexpr Duration kLongest = Duration::seconds(120);  ///< that a restart waits for space

  CleanupTask(Clock& clock, CleanupTaskScope scope) : clock_(clock), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  /// Whether space was freed since an attempt ended for lack of it. Unset while that is being done, or old checkpoints
  /// are to go as soon as newer ones are in the store: call again, with turns in between.
  std::optional<bool> made_room(const State& state, EventWriter& writer);
  /// Asked when the run is over and all that it saved is looked at: is what [retention] deletes gone? `stops`: how
  /// often somebody asked to stop.
  bool may_end(const State& state, int stops);
  /// A person requests a cleanup, whatever the mode; the result is written to kCleanupResultFile. `ask` is of kCleanup.
  void cleanup_now(const RunAsk& ask) { asks_.push_back(ask); }

 private:
  enum class For { kSpace, kRetention, kStale, kPerson, kHope, kUnfinished, kShare };
  /// What [retention] deletes once all that is on its way is in the store.
  struct Hope {
    size_t checkpoints = 0;
    int64_t bytes = 0;
  };
  std::optional<bool> room_by_cleanup(const State& state);
  std::optional<bool> room_by_shipping(const State& state, EventWriter& writer);
  void say_hope(const State& state, EventWriter& writer);
  void say_what_to_free(const State& state) const;
  bool busy() const { return planning_.started() || removing_.started() || !plan_.empty(); }
  bool begin_next(const State& state, bool quiet);
  void begin_plan(const State& state, For what, std::vector<std::string> words);
  void take_plan(CleanupPlan plan, EventWriter& writer);
  void report_plan(const CleanupPlan& plan, EventWriter& writer);
  bool learnt_more(const State& state) const;
  bool begin_by_share(const State& state, bool quiet);
  void drop_plan();
  void try_again();
  void take_removed(const Result<Removed>& removed, EventWriter& writer);
  bool remove_next(EventWriter& writer);
  void finish_ask();
  std::vector<std::string> words_for(const State& state) const;
  std::vector<std::string> words_of_disks() const;

  Clock& clock_;
  CleanupTaskScope scope_;
  bool doubts_settled_ = false;
  bool unfinished_due_ = false;     ///< what an earlier midwatch left in the middle
  For for_ = For::kSpace;           ///< of the present plan
  uint32_t incident_ = 0;           ///< the incident that the plan is for
  std::vector<std::string> notes_;  ///< of the last plan that had some
  uint32_t reported_ = 0;           ///< incident for which the deletable files were reported
  size_t retention_seen_ = 0;       ///< retention_news() up to which retention was done
  bool retention_due_ = false;      ///< whatever is new: its last plan could not be carried out
  bool retention_waits_ = false;    ///< CleanupPlan::waits of its last plan
  int retention_known_ = 0;         ///< how much was known for that
  bool retention_last_ = false;     ///< it was planned once more at the end of the run
  size_t shipped_seen_ = 0;         ///< shipments of these
  bool held_ = false;               ///< an attempt was running at the last turn
  bool stale_due_ = false;          ///< one has ended since
  std::vector<CleanupItem> plan_;   ///< still to be deleted, the next at the end
  CleanupItem item_;                ///< what is being deleted
  uint32_t action_ = 0;             ///< its number in the journal
  int64_t freed_bytes_ = 0;         ///< bytes, since made_room() was last answered
  std::vector<RunAsk> asks_;        ///< of people; the first is in progress when for_ is kPerson
  CleanupResult result_;            ///< of that request so far
  int64_t retained_bytes_ = 0;      ///< likewise, by [retention] while a restart waited
  std::optional<Hope> hope_;        ///< of the attempt that ended for want of space
  std::optional<Duration> failed_;  ///< when a deletion did, of which some may be left
  Duration retry_ = kAgain;         ///< after which that is gone on with
  std::optional<Duration> planned_, asked_, hoped_, ended_;
  Duration share_due_;           ///< when the share of the disk that is used is asked for again
  bool share_said_ = false;      ///< what could be deleted for its sake was reported
  std::optional<bool> cleaned_;  ///< what came of the plan for made_room()
  bool hope_said_ = false;
  bool asked_done_ = false;  ///< the plan for made_room() was begun
  BackgroundCall<std::unique_ptr<CleanupPlan>> planning_;
  BackgroundCall<Result<Removed>> removing_;
};

/// Over this machine itself. The rest as in CleanupTaskScope.
std::unique_ptr<CleanupTask> watch_space(
    Clock& clock, const RunSpec& spec, CleanupPlaces places, CleanupSettings settings,
    std::function<CheckpointLayout(const std::string& framework)> layout,
    std::function<void(const std::string& sentence)> say, std::function<bool()> holds,
    std::function<Result<void>(const std::string& path, std::string_view text)> write,
    std::function<Result<StoreSteps>()> in_store);

}  // namespace mw
