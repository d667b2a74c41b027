// The world that a supervisor lives in: processes that obey signals in their own time, a keeper for each attempt, a
// trainer with checkpoints, and people who ask for things.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "act/keeper/record.h"
#include "base/prng.h"
#include "core/event_writer.h"
#include "core/state.h"
#include "platform/clock.h"
#include "platform/fake/fake_disk.h"
#include "platform/process.h"

namespace mw::sim {

inline constexpr std::string_view kRunFolder = "run";
inline constexpr std::string_view kCheckpointsFolder = "/w/ck";

/// Processes that are what the world says; signals reach them at once or in their own time.
class SupervisedProcesses final : public Processes {
 public:
  struct One {
    ProcessInfo info;
    bool ignores_int = false, ignores_term = false;
    int pending = 0;      ///< a signal that it will end by
    int64_t ends_at = 0;  ///< tick at which it does; 0: not
    std::string marker;   ///< in its environment
  };
  Result<ProcessInfo> info(int64_t pid) override;
  std::vector<ProcessInfo> all() override;
  Result<void> signal(const ProcessId& id, int signal) override;
  std::string boot() override { return "boot"; }
  bool carries(const ProcessInfo& process, std::string_view marker) override;
  bool carries_further(const ProcessInfo&, std::string_view) override { return false; }
  bool between_programs(const ProcessInfo&) override { return false; }

  /// Of another process, that gets a number which is free again.
  One& add_as(int64_t pid, int64_t parent, int64_t session);
  One& add(int64_t parent, int64_t session);  ///< session 0: its own
  One* find(const ProcessId& id);
  void gone(const ProcessId& id);  ///< its children become orphans
  /// Who lives of a family.
  std::vector<ProcessId> of_session(int64_t session) const;

  std::map<int64_t, One> table;
  std::function<void(const ProcessId&, int)> on_signal;  ///< called before it takes effect
  std::set<int64_t> subreapers;                          ///< pids that orphans of their descendants go to
  int64_t next_pid = 100;
  int64_t tick = 0;
  Prng* dice = nullptr;
};

class SupervisedWorld {
 public:
  explicit SupervisedWorld(uint64_t seed);

  /// Half a second passes.
  void pass();
  /// A writer in the background of the trainer replaces two files of a save that looked whole.
  void write_late(int64_t step);
  /// Starts a keeper for an attempt, as the door does: it begins in its own time.
  Result<void> start_keeper(const std::string& folder);
  /// What the run's files hold by now is folded into `state`, incidents and all; true when nothing is unread.
  bool deliver(State& state);
  /// What a new watch knows.
  void remember(State& state);
  void wrong(const std::string& what) {
    if (problem.empty()) problem = what;
  }
  /// Nothing of the command lives.
  bool still() const;
  bool runs() const { return attempt_ && attempt_->spawned && !attempt_->ended; }
  int64_t tick() const { return tick_; }
  int number() const { return attempt_ ? attempt_->number : 0; }

  FakeDisk disk;
  FakeClock clock;
  SupervisedProcesses processes;
  Prng dice;
  std::string problem;
  std::vector<Event> journal;  ///< durable: what was read, and actions
  uint64_t launched = 0, poisoned_steps = 0;
  bool finished = false;
  int64_t stopped_at = 0;  ///< tick at which it was asked to stop, for good; 0: not
  int restarts = 3;
  int64_t total = 60;
  bool resumes_by_word = false;  ///< {resume} in its command, else it reads its own pointer
  /// Asked to stop, it may do so without a record once its disk has refused that for some turns.
  bool stop_requested = false;
  int refused_turns = 0;

  bool unreadable = false;      ///< now and then the run's folder cannot be read
  bool disk_lies = false;       ///< to midwatch: reading fails now and then
  bool stubborn_bug = false;    ///< it always fails at the same step
  int rule_broken = 0;          ///< so often training turns to what a rule of the user's own forbids, at one step
  bool asks_to_break = false;   ///< an attempt is only ended by the breaker when a person said so
  bool watched = false;         ///< a midwatch lives, and could read its folder
  bool poison_allowed = false;  ///< midwatch may not end what trains on poison, or a person declined that
  bool has_foreign = false;     ///< somebody else's checkpoints lie in the same folder
  int approved = 0;             ///< attempt of which a person last said that it may be ended

 private:
  struct Keeper {
    ProcessId id;
    int64_t begins_at = 0;  ///< tick
    bool begun = false;
    bool settled = false;  ///< it knows that the command was begun
  };
  struct Attempt {
    int number = 0;
    std::string folder;
    Keeper keeper;
    ProcessId child, engine;
    ProcessId forker;    ///< the keeper that forked the child
    bool waits = false;  ///< the child is forked, and waits for its keeper's word
    bool spawned = false, ended = false, engine_dead = false, poisoned = false, orphaned = false;
    int poisoned_steps = 0;     ///< while somebody watched
    bool against_rule = false;  ///< a rule of the user's own is broken
    bool end_reported = false, done = false, half_saved = false;
    int64_t step = 0, crash_at = 0;  ///< crash_at: tick; 0: not
    int code = -1, signal = 0;
    std::optional<event::CheckpointSaved> unsaid;  ///< what it printed of its last save, in its own buffer
  };
  void put_foreign(int64_t step);
  void check_foreign();
  void keeper_lives();
  void begin_command();
  bool dies_early();
  void reuse_numbers();
  void spawn();
  void train();
  void one_step();
  void save();
  void finish_save();
  std::optional<int64_t> resumes_from();
  void say_saved();
  bool is_unsound(int64_t step) const;
  bool has_sound_before(int64_t step) const;
  void lose_engine();
  void break_rule();
  void end_child(int code, int signal);
  void put_record(const std::string& line);
  void say(decltype(Event::body) body);
  void blame(const std::string& kind, const std::string& reaction, int64_t step);
  void check_signal(const ProcessId& id, int signal);
  bool meant(std::string_view action, bool still) const;

  int64_t late_writes_ = 0;
  std::optional<Attempt> attempt_;
  std::map<std::string, FakeDisk> records_;  ///< by attempt folder, as its keepers write them
  std::vector<Event> emitted_;               ///< in the run's files
  struct Blame {
    size_t after = 0;   ///< facts
    bool seen = false;  ///< by a watch; the attempt of its onset is as that one counts
    Incident incident;
  };
  std::vector<Blame> blamed_;
  size_t delivered_ = 0;
  uint64_t line_ = 0;
  int64_t tick_ = 0;
  std::set<int64_t> strangers_;             ///< pids
  std::set<int64_t> foreign_;               ///< steps of somebody else's checkpoints
  Prng reads_;                              ///< of what reading checkpoints finds
  double unsound_chance_ = 0;               ///< that it finds numbers that are not sane
  std::map<int64_t, std::string> unsound_;  ///< by step, what tells the save from others
  bool saved_whole_ = false;                ///< with weights, at least once
  double early_death_ = 0;                  ///< of a keeper, between any two things that it does to begin a command
  double reuse_chance_ = 0;                 ///< of a number that is free again, per tick
  double broken_chance_ = 0;                ///< of a save that is logged as good
  double fault_chance_ = 0;                 ///< of each kind, per tick
};

}  // namespace mw::sim
