// Holds a command through its attempts: starts it under a keeper, sees it end, decides, starts it again. It keeps
// nothing that is not on disk, so the next midwatch goes on where this one was killed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "daemon/charge.h"
#include "keeper/record.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

struct SupervisorDoors {
  Disk& disk;
  Clock& clock;
  Processes& processes;
  /// Starts a keeper in an attempt's folder; keeper/keep.h.
  std::function<Result<void>(const std::string& folder)> start_keeper;
  /// Writes a small file so that it is there whole or not at all, and durable.
  std::function<Result<void>(const std::string& path, std::string_view text)> write_file;
  /// Told in one sentence what was done and why.
  std::function<void(const std::string& sentence)> say;
};

class Supervisor {
 public:
  /// Takes up the run in `run_folder`, which holds a charge file; attempts that were made before are found again.
  /// Nothing is started before the first turn.
  static Result<std::unique_ptr<Supervisor>> open(SupervisorDoors doors, const Knowledge& knowledge,
                                                  std::string run_folder);

  /// Looks, and does what is due. `state` is what the run's files told so far; `quiet`: nothing in them is unread.
  /// False when it is over. After an error (the run's folder cannot be read or written) call again later: the command
  /// goes on meanwhile.
  Result<bool> turn(const State& state, bool quiet);
  /// How long the next turn may wait when nothing stirs in the run's folder.
  Duration patience() const;

  /// The run is to end: the first time the command gets its grace, the second time it is killed at once. The next
  /// midwatch knows of it too.
  Result<void> stop();

  const Charge& charge() const { return charge_; }
  /// How the last attempt ended; unset while it runs.
  const std::optional<Ending>& ending() const { return kept_.ending; }
  bool could_start() const { return kept_.failure.empty(); }
  const std::string& why_over() const { return why_over_; }
  int attempt() const { return attempt_; }
  std::string attempt_folder() const { return attempt_folder(attempt_); }

 private:
  enum class Phase { kNew, kRunning, kEnded, kWaiting, kOver };

  Supervisor(SupervisorDoors doors, const Knowledge& knowledge, std::string run_folder)
      : doors_(std::move(doors)), knowledge_(knowledge), folder_(std::move(run_folder)) {}
  std::string attempt_folder(int number) const;
  Result<std::string> read_file(const std::string& path);
  Result<void> take_up();
  Result<void> begin_attempt(int number);
  Result<void> look_at_keeper();
  Result<void> press_to_end();
  void clear_leftovers();
  Result<void> trip_on_poison(const State& state);
  Result<void> judge(const State& state);
  AttemptOutcome outcome(const State& state) const;
  bool lives(const ProcessId& id) const;
  Duration since(Duration then) const { return {doors_.clock.steady().ns - then.ns}; }

  SupervisorDoors doors_;
  const Knowledge& knowledge_;
  std::string folder_;
  Charge charge_;
  Phase phase_ = Phase::kNew;
  int attempt_ = 0;
  Kept kept_;
  std::vector<AttemptOutcome> outcomes_;
  Duration due_;          ///< when the next attempt begins
  Duration asked_;        ///< when the command was first asked to end
  Duration ended_;        ///< when its end was seen
  Duration keeper_from_;  ///< when a keeper was last started
  int stops_ = 0, presses_ = 0;
  std::optional<Trip> trip_;
  bool settled_ = false;  ///< `state` knows of this attempt: its first line was read
  std::string why_over_;
};

}  // namespace mw
