// Looks at checkpoints on the disk beside a watch, off its thread: those that the run says it saved, and new ones in
// the folders where it saves. What it found goes into the run's journal.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/system.h"
#include "sense/checkpoints/beside.h"
#include "sense/checkpoints/pointer_watch.h"
#include "sense/checkpoints/scan.h"

namespace mw {

/// What is watched, and through what.
struct CheckpointScope {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<System> system;  ///< who holds files open; nullptr: not asked
  std::string folder;              ///< absolute; what relative paths in the run's files start from
  std::vector<std::string> roots;  ///< folders that hold checkpoints; none = those that the run's files name
  /// How a framework names its checkpoints; unknown for one of which that is not known.
  std::function<CheckpointLayout(const std::string& framework)> layout;
  /// The run's own processes; unset: not known. Where nothing names the folder in which it saves, it is found by what
  /// they have open to write.
  std::function<std::vector<int64_t>()> members = nullptr;
  std::string run_folder = {};  ///< of a supervised run: who writes in `roots` and `folder` is noted there (writers.h)
};

class CheckpointWatch final : public Task {
 public:
  static constexpr Duration kPeriod = Duration::seconds(10);  ///< between searches for new ones
  static constexpr Duration kSearch = Duration::seconds(1);   ///< between looks for the folder in which a run saves
  static constexpr Duration kSettled = Duration::seconds(2);  ///< without a change, after the run said that it is done
  static constexpr Duration kStill = Duration::seconds(60);   ///< likewise where it only said that it began
  /// Likewise of one that is not whole, behind which a whole one was saved: that its save is over is certain.
  static constexpr Duration kPassed = Duration::seconds(10);
  static constexpr Duration kHealing = Duration::seconds(900);  ///< in which a broken one may still become whole
  static constexpr size_t kKept = 64;                           ///< checkpoints remembered, the newest

  CheckpointWatch(Clock& clock, CheckpointScope scope) : clock_(clock), scope_(std::move(scope)), began_(clock.now()) {}
  ~CheckpointWatch() override;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  /// One checkpoint that the run speaks of, or that was found.
  struct Kept {
    int64_t step = kNoStep;      ///< by its name, where numbers count saves its number: which is newer
    int64_t log_step = kNoStep;  ///< at which its run says that it was saved
    uint16_t attempt = 0;
    bool said = false;          ///< the run said that it is done
    bool seen_written = false;  ///< it was found by who wrote it: that it is done is soon to be seen
    bool reported = false, over = false;
    bool fresh = false;  ///< it was the newest when it was first scanned
    event::CheckpointSeen::How how = event::CheckpointSeen::How::kUnknown;  ///< as reported
    std::string lacks, doubt;                                               ///< likewise
    Duration met, due, still_since;
    CheckpointScan scan;  ///< the last
  };
  struct Answer {
    std::string folder;
    CheckpointScan scan;
    bool held_open = false;                              ///< somebody has a file in it open
    std::vector<std::pair<std::string, int64_t>> found;  ///< folders and steps that the roots hold
    std::set<std::string>
        fresh;  ///< of those: made since the watch began, where it was learnt late that they are the run's
    std::set<std::string> listed_before;          ///< roots that an earlier scan listed
    std::map<std::string, PointerScan> pointers;  ///< by root
    std::set<std::string> held_roots;             ///< of those that are doubted: somebody has a file there open
    std::set<std::string> written;                ///< folders that are being saved to
    std::map<std::string, SavedBeside> beside;    ///< others where it may save
    std::vector<std::string> roles;               ///< folders of roles that lie below or beside the roots
  };

  void hear(const State& state, const CheckpointLayout& layout);
  void meet(const std::string& folder, int64_t step, uint16_t attempt, bool said);
  void ask(const CheckpointLayout& layout, const State& state);
  bool searches() const;
  bool may_be_found(const std::string& root) const;
  void search(const CheckpointLayout& layout);
  void said(const CheckpointLayout& layout, int64_t step, uint16_t attempt);
  void hear_counted(const CheckpointLayout& layout, const std::string& path, int64_t step, const Moment& moment,
                    bool complete);
  void take(Answer answer, const State& state, const CheckpointLayout& layout, EventWriter& writer);
  void judge_pointers(const Answer& answer, const State& state, const CheckpointLayout& layout, EventWriter& writer);
  void judge(Kept& kept, bool held_open, const State& state, EventWriter& writer);
  bool is_passed(const std::string& folder, const Kept& kept) const;
  bool overtaken(const std::string& folder, const Kept& kept) const;
  const CheckpointScan* before(const std::string& folder, const Kept& kept) const;
  void forget();

  Clock& clock_;
  CheckpointScope scope_;
  Time began_;
  std::string saves_in_;                  // State::saves_in
  Duration searched_;                     // by the steady clock; 0: not yet
  Duration searched_beside_;              // likewise, where the run may save
  std::map<std::string, Kept> kept_;      // by folder
  std::map<std::string, bool> roots_;     // that hold checkpoints; true: they were listed
  std::set<std::string> roles_;           // of these, those that were found by another one
  std::set<std::string> named_;           // likewise, those that the run's files name
  std::set<std::string> listed_folders_;  // that were found in them
  size_t heard_ = 0;                      // of the state's checkpoints
  size_t searched_at_ = 0;                // heard_, when it was last searched where the run may save
  Duration listed_;                       // when the roots were last listed
  Duration now_;
  PointerWatch pointers_;
  StepsInTime steps_;  // by the clock on the wall, as files have it
  BackgroundCall<Answer> call_;
};

/// Over this machine itself. The rest as in CheckpointScope.
std::unique_ptr<CheckpointWatch> watch_checkpoints(Clock& clock,
                                                   std::function<CheckpointLayout(const std::string&)> layout,
                                                   std::string folder, std::vector<std::string> roots,
                                                   std::function<std::vector<int64_t>()> members,
                                                   std::string run_folder = "");

}  // namespace mw
