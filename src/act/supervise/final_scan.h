// After the last attempt of a run: looks once more at what it saved and what nobody has found whole yet. Beside a
// running command a checkpoint is judged once it has stood still for a while; one that was saved shortly before the end
// would stay without a verdict, and without a place in the store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "sense/checkpoints/scan.h"

namespace mw {

/// A checkpoint that is to be looked at.
struct DueScan {
  std::string path;
  int64_t step = kNoStep;
  bool saved_anew = false;  ///< in a later attempt than the one in which it was looked at
  bool known = false;       ///< it was found whole before: only what the next one is compared with
};

/// What the run saved and what was not found whole since, by ascending step: what its files name, and what is proven to
/// be its own where it saves. Of many the newest.
std::vector<DueScan> due_scans(Disk& disk, const std::string& run_folder, const RunSpec& spec, const State& state,
                               const CheckpointLayout& layout);

struct FinalScanScope {
  std::shared_ptr<Disk> disk;
  std::function<std::vector<DueScan>(const State& state)> due;
  Duration wait;  ///< at most
};

class FinalScan final : public Task {
 public:
  static constexpr Duration kStill = Duration::seconds(2);   ///< between two scans that must find the same
  static constexpr Duration kAtStop = Duration::seconds(5);  ///< of `wait`, where somebody stops the run
  static constexpr Duration kAlone = Duration::seconds(15);  ///< `wait` of a run without a store
  static constexpr Duration kPoll = Duration::millis(50);

  FinalScan(Clock& clock, FinalScanScope scope) : clock_(clock), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  /// Asked when the command is over and none follows: is everything looked at? `stops`: how often somebody asked to
  /// stop.
  bool may_end(const State& state, int stops);

 private:
  void start();
  bool stays_broken(const std::vector<CheckpointScan>& scans, size_t which, const State& state) const;
  void take(const std::vector<CheckpointScan>& scans, const State& state, EventWriter& writer);
  Duration since(Duration then) const { return {clock_.steady().ns - then.ns}; }

  Clock& clock_;
  FinalScanScope scope_;
  BackgroundCall<std::vector<CheckpointScan>> call_;
  std::vector<DueScan> due_;
  std::vector<EndedAttempt> attempts_;      ///< when `due_` was collected
  std::map<std::string, uint64_t> before_;  ///< what the scan before found, by path
  std::optional<Duration> ended_;
  Duration next_;  ///< scan, by the steady clock
};

/// Over this machine's disk.
std::unique_ptr<FinalScan> final_scan(Clock& clock, const RunSpec& spec, const std::string& run_folder, Duration wait,
                                      std::function<CheckpointLayout(const std::string& framework)> layout);

}  // namespace mw
