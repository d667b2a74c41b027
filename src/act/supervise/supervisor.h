// Supervises a command through its attempts: starts it under a keeper, sees it end, starts it again. What is due is
// decided by core/supervise/decide.h and core/supervise/policy.h; this carries it out and records it. It knows nothing
// that is not in the journal or in a keeper's record, so the next midwatch goes on where this one was killed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "act/keeper/record.h"
#include "act/supervise/judgement.h"
#include "act/supervise/process_tree.h"
#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/event_writer.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "core/supervise/breaker.h"
#include "core/supervise/decide.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

struct SupervisorDoors {
  Disk& disk;
  Clock& clock;
  Processes& processes;
  /// Starts a keeper in an attempt's folder; act/keeper/keep.h.
  std::function<Result<void>(const std::string& folder)> start_keeper;
  /// Writes a small file so that it is there whole or not at all, and durable.
  std::function<Result<void>(const std::string& path, std::string_view text)> write_file;
  /// How a framework names its checkpoints; unknown for one of which that is not known.
  std::function<CheckpointLayout(const std::string& framework)> layout;
  /// Receives one sentence: what was done and why.
  std::function<void(const std::string& sentence)> say;
  /// Finds on the disk what to resume from (sense/checkpoints/last_whole.h); empty while the answer is not known. May
  /// be unset: then the trainer's word is believed.
  std::function<std::optional<LastWhole>(const std::vector<std::string>& roots, const CheckpointLayout& layout,
                                         int64_t before, const std::set<std::string>& skip,
                                         const EarlierFindings& earlier)>
      last_whole = {};
  /// What the command needs is there, so that an attempt may begin; may be empty.
  std::function<bool()> may_begin = nullptr;
};

class Supervisor {
 public:
  /// Of the run in `run_folder`, which holds run.json; attempts that were begun before are found again. Nothing is
  /// started before the first turn, which reads from the state what was requested and decided before.
  static Result<std::unique_ptr<Supervisor>> open(SupervisorDoors doors, const Knowledge& knowledge,
                                                  std::string run_folder);

  /// Where the record cannot be read or written: so long after a request to stop the command is asked to end, or
  /// killed, unrecorded; and so long after its end the run is over, with or without such a request.
  static constexpr Duration kUnrecordedStop = Duration::seconds(1), kUnrecordedKill = Duration::millis(200);
  static constexpr Duration kUnrecordedEnd = Duration::seconds(20), kUnrecordedEndAtStop = Duration::seconds(2);
  /// Likewise after its end with status 0, behind which nothing is to follow, where the disk is full.
  static constexpr Duration kUnrecordedSuccess = Duration::seconds(2);
  /// Likewise where another attempt may be due: that needs a record, and somebody may make space for it.
  static constexpr Duration kUnrecordedRestart = Duration::seconds(600);

  /// Checks the run, and does what is due. `state` is what the run's files reported so far; `quiet`: nothing in them is
  /// unread. False when it is over. After an error (the run's folder cannot be read or written) call again later: the
  /// command goes on meanwhile, unless it is to stop.
  Result<bool> turn(const State& state, bool quiet, EventWriter& writer);
  /// How long the next turn may wait when nothing stirs in the run's folder.
  Duration patience() const;

  /// The run is to end: the command gets its grace, or is killed at once where `now` says so. The next turn records it.
  /// `signal`: what midwatch itself got, SIGINT or SIGTERM; the command is asked by the same. 0: as ask_to_end() does.
  /// (A pause, and its end, are requested in the journal: event::Requested.)
  void stop(bool now, int signal = 0);
  /// The same as the run cannot go on without `component`: `why`, in a sentence for people.
  void stop_for(const std::string& component, std::string why);
  bool stopping() const { return stop_ != Stop::kNo; }
  /// A person approves what is asked: ending the attempt, or beginning the next one.
  Result<void> approve(const State& state, EventWriter& writer);
  /// A person does not want the attempt to be ended for what is asked now, or anything else.
  Result<void> refuse(const State& state, EventWriter& writer);

  /// Asked when an attempt ended for want of space: has some been made? Empty while that is not known.
  void when_space_is_wanted(std::function<std::optional<bool>(const State&, EventWriter&)> made_room) {
    made_room_ = std::move(made_room);
  }

  /// Asked where a disk is too full to quarantine what is planned: deletes of that what is broken, where that is
  /// allowed (act/cleanup/broken_room.h). Was anything deleted?
  void when_rollback_needs_space(
      std::function<bool(const CheckpointLayout&, const QuarantinePlan&, EventWriter&)> free_broken) {
    free_broken_ = std::move(free_broken);
  }

  /// Asked when an attempt that is not the first is due: do the servers that it needs answer?
  void when_servers_are_wanted(std::function<bool(const State&, EventWriter&)> servers_answer) {
    servers_answer_ = std::move(servers_answer);
  }

  /// Asked before an attempt is ended that only waits: is somebody looking at what its processes do?
  void spare_while(std::function<bool()> looked_at) { looked_at_ = std::move(looked_at); }

  const RunSpec& spec() const { return spec_; }
  /// How the last attempt ended; unset while it runs.
  const std::optional<Ending>& ending() const { return kept_.ending; }
  /// The keeper of the attempt that goes on, above all of its processes; 0 while there is none.
  int64_t keeper_pid() const { return phase_ == Phase::kRunning ? kept_.keeper.pid : 0; }
  /// The command's own process, likewise.
  int64_t command_pid() const { return phase_ == Phase::kRunning && !kept_.ending ? kept_.child.pid : 0; }
  /// Likewise both, as they are known to be themselves; they may have ended.
  ProcessId keeper() const { return phase_ == Phase::kRunning ? kept_.keeper : ProcessId(); }
  ProcessId command() const { return phase_ == Phase::kRunning ? kept_.child : ProcessId(); }
  /// The number of the attempt that goes on (0: none does), when it began, and the processes that came from it.
  Time attempt_began() const { return kept_.started; }
  int running() const { return phase_ == Phase::kRunning ? attempt_ : 0; }
  std::vector<ProcessInfo> members() const;
  /// An attempt was begun, and which process its command is is not known yet.
  bool awaits_command() const {
    return phase_ == Phase::kRunning && !kept_.child.known() && !kept_.ending && kept_.failure.empty();
  }
  bool could_start() const { return kept_.failure.empty(); }
  /// The last attempt ended with status 0, and what its files report belies that.
  bool unfinished() const { return unfinished_; }
  const std::string& why_over() const { return why_over_; }
  int attempt() const { return attempt_; }
  std::string attempt_folder() const { return attempt_folder(attempt_); }
  std::string attempt_folder(int number) const;

 private:
  enum class Phase { kNew, kRunning, kEnded, kWaiting, kOver };
  /// Within which a keeper has written its first record; of two that are started for one attempt the second ends at
  /// once.
  static constexpr Duration kKeeperBegins = Duration::seconds(2);
  /// Actions, as the journal names them, and what they are done to.
  static constexpr const char *kRestart = "restart", *kBreak = "break", *kStop = "stop", *kPause = "pause",
                              *kResume = "resume";
  static std::string attempt_name(int number) { return "attempt " + std::to_string(number); }
  enum class Stop { kNo, kAsked, kNow };
  struct Remains {
    std::vector<std::string> roots;  ///< folders with checkpoints, in which this run may save
    int64_t suspect = kNoStep;       ///< the first checkpoint that was saved from poisoned data, by its number
    int64_t suspect_step = kNoStep;  ///< its step; where numbers count saves, the step of the onset
    std::set<std::string> skip;      ///< checkpoints there that are none of this run's
    Ownership own;                   ///< decides whose a checkpoint is
  };

  Supervisor(SupervisorDoors doors, const Knowledge& knowledge, std::string run_folder)
      : doors_(std::move(doors)),
        knowledge_(knowledge),
        folder_(std::move(run_folder)),
        tree_(doors_.processes, doors_.clock, doors_.say) {}
  Result<void> reattach();
  Result<bool> look_and_act(const State& state, bool quiet, EventWriter& writer);
  Result<void> record(const State& state, EventWriter& writer) const;
  Result<bool> do_without_record(const Error& trouble);
  Result<void> keeper_can_go_on();
  Duration unrecorded_end(const Error& trouble) const;
  bool is_gone() const;
  Result<void> read_decisions(const State& state, EventWriter& writer);
  void look_at_members(EventWriter& writer);
  Result<void> begin_attempt(int number);
  void note_what_is_there(const State& state, EventWriter& writer) const;
  Result<void> begin_next(const State& state, EventWriter& writer);
  Result<void> roll_back_first(const State& state, EventWriter& writer);
  std::string called_back_from() const;
  Result<std::string> roll_back_somehow(EventWriter& writer);
  Result<void> give_up_rolling_back(const State& state, const Error& error, EventWriter& writer);
  Result<bool> is_clear(const State& state, EventWriter& writer);
  Result<void> give_up(const State& state, std::string why, EventWriter& writer);
  Result<void> watch_attempt(const State& state, bool quiet, EventWriter& writer);
  Result<void> look_at_keeper(EventWriter& writer);
  Result<void> look_at_background(const State& state, bool quiet, EventWriter& writer);
  void say_where_it_trains() const;
  Result<void> end_as_requested(EventWriter& writer);
  Result<void> keep_paused(const State& state, EventWriter& writer);
  Result<void> refuse_pause(const State& state, EventWriter& writer) const;
  Result<void> ask(const char* action, const Decision& decision, EventWriter& writer);
  Result<void> trip(const Incident& incident, EventWriter& writer);
  Result<void> trip_on_poison(const State& state, EventWriter& writer);
  Result<bool> may_restart(const State& state, EventWriter& writer);
  bool look_back(const State& state, EventWriter& writer);
  bool space_is_settled(const State& state, EventWriter& writer);
  Result<Judgement> judgement(const State& state) const;
  Result<void> judge(const State& state, EventWriter& writer);
  void heed(const SupervisedAttempt& attempt);
  Result<void> heed_stop(const State& state, EventWriter& writer);
  std::string stop_reason() const { return stop_why_.empty() ? "A stop was requested." : stop_why_; }
  Result<void> check_resume(const State& state, EventWriter& writer);
  void settle_doubts(const State& state, EventWriter& writer);
  void settle(uint32_t* action, bool ok, std::string text, EventWriter& writer);
  AttemptOutcome outcome(const State& state) const;
  Result<void> look_at_remains(const State& state);
  Result<Remains> remains(const State& state);
  bool succeeded(const State& state) const;
  bool may_begin() const { return !doors_.may_begin || doors_.may_begin(); }
  Duration since(Duration then) const { return {doors_.clock.steady().ns - then.ns}; }

  SupervisorDoors doors_;
  const Knowledge& knowledge_;
  std::string folder_;
  RunSpec spec_;
  Phase phase_ = Phase::kNew;
  int attempt_ = 0;
  Kept kept_;
  std::string framework_;  ///< whose checkpoints `back_` speaks of
  Rollback back_;          ///< to be done before the next attempt
  std::function<std::optional<bool>(const State&, EventWriter&)> made_room_;
  std::function<bool(const CheckpointLayout&, const QuarantinePlan&, EventWriter&)> free_broken_;
  std::function<bool()> looked_at_;
  std::function<bool(const State&, EventWriter&)> servers_answer_;
  std::optional<bool> room_;        ///< was space made since the attempt ended for want of it?
  std::optional<Remains> remains_;  ///< of the ended attempt, once they were scanned
  std::optional<LastWhole> way_;    ///< what the ended attempt left to resume from, once it was scanned
  Resume resume_;                   ///< what the present or next attempt resumes from
  Duration due_;                    ///< when the next attempt begins
  Duration ended_;                  ///< when the command's end was seen
  Duration keeper_from_;            ///< when a keeper was last started
  ProcessTree tree_;
  Stop stop_ = Stop::kNo;
  std::string stop_by_, stop_why_;  ///< Requested::who and why, where it is a component; "": somebody requested it
  bool paused_ = false;             ///< its processes were stopped (SIGSTOP), or may have been
  bool pause_said_ = false;         ///< that the next attempt waits for the end of a pause
  bool resume_checked_ = false;
  /// The last attempt that was judged: its files belie status 0, or the breaker or somebody from outside ended it.
  bool unfinished_ = false;
  // Numbers of actions whose outcome is not recorded yet; 0: none.
  uint32_t starting_ = 0, stopping_ = 0, breaking_ = 0;
  bool decisions_read_ = false;            ///< of the midwatch before this one
  std::optional<Duration> trouble_since_;  ///< every turn since then failed ...
  std::optional<Duration> gone_since_;     ///< ... and nothing of the command lives
  std::optional<Duration> waits_since_;    ///< nothing of the command lives, and its keeper has not said so
  std::optional<Trip> trip_;
  Duration members_at_;             ///< when the last snapshot of the attempt's processes was taken
  std::optional<bool> stepped_;     ///< a step of the attempt was seen before its command ended; unset while it runs
  std::optional<bool> background_;  ///< the command ended, and what it left is the training; likewise
  bool settled_ = false;            ///< `state` knows of this attempt: its first line was read
  std::string why_over_;
};

}  // namespace mw
