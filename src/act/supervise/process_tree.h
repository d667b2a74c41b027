// Signals to the processes of an attempt: to end, kill, pause and resume them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/supervise/strangers.h"
#include "platform/clock.h"
#include "platform/process.h"

namespace mw {

/// Signals to everything that came from one attempt. Each ladder of signals is climbed once.
///
/// A process came from it when that is proven, and no other is ever signalled:
///  1. it is the command or descends from the command or from the attempt's keeper, which live;
///  2. or it belongs to the session of the command, which lives;
///  3. or it was started with the attempt's marker in its environment, whatever became of its parents: so are those
///     that the command starts in sessions of their own, and whatever they start. What must outlive the attempt is
///     started elsewhere;
///  4. or 1 to 3 held in an earlier snapshot, or it descends from one of these. Programs that change their title write
///     over their environment.
/// Somebody else's all the same, and left alone, is what a person opened in a terminal server that the command had
/// started, with all that came of it, and another run (act/supervise/strangers.h).
/// A process is identified by number, start, and start of the machine and of the numbering: a later process of the same
/// number gets no signal.
class ProcessTree {
 public:
  ProcessTree(Processes& processes, Clock& clock, std::function<void(const std::string&)> say)
      : processes_(processes), clock_(clock), say_(std::move(say)) {}

  /// From now on this attempt's; nothing was sent yet.
  void take(int attempt, std::string marker);
  /// Takes a snapshot of the processes that came from it, so that they are known when their parents are gone. Call it
  /// now and then. True when unmarked() changed.
  bool take_snapshot();
  /// The last snapshot; none was taken of an attempt that just began.
  const std::vector<ProcessInfo>& snapshot() const { return snapshot_; }
  /// Those of them that carry no marker and were in two snapshots: the next midwatch cannot find them by itself.
  const std::vector<ProcessId>& unmarked() const { return unmarked_; }
  /// What unmarked() of an earlier midwatch was, on this start of the machine.
  void remember(const std::vector<ProcessId>& members);
  /// Of whom: the keeper while it lives, and the command once it is known; both of this start of the machine.
  void of(const ProcessId& keeper, const ProcessId& child) {
    keeper_ = keeper;
    child_ = child;
  }

  /// SIGINT to the command's session as Ctrl-C sends it, SIGTERM when half of `grace` has passed since the first call,
  /// SIGKILL to all that came from it when all of it has, or at once where `now` says so. Call it again and again.
  /// After ask_by(SIGTERM) no SIGINT comes first: a scheduler means what it sends.
  void ask_to_end(Duration grace, bool now);
  void ask_by(int signal) { first_ = signal; }
  bool asked() const { return asked_for_ > 0; }
  /// SIGKILL to all that came from it, without asking.
  void kill();
  /// The command has ended `ago`: its remaining processes are asked to end, later killed. Call it again and again.
  void end_remaining(Duration ago);
  /// Who came from it and is somebody else's; the attempt's keeper, which is their parent, waits for them.
  std::vector<ProcessInfo> others() const;
  /// It is over: says, once, who stays of what came from it, as somebody else's.
  void say_who_stays();
  /// Those that came from it, without its keeper and without who is somebody else's.
  std::vector<ProcessInfo> family() const;
  /// Is any process alive that came from it, or may have, as it is just executing another program?
  bool any_alive() const;

  /// Stops everything that came from it (SIGSTOP), also what came since the last call. Returns how many there are.
  size_t pause();
  /// Continues those that are stopped (SIGCONT). Returns how many there are.
  size_t resume();

 private:
  bool becoming() const;
  bool carries(const ProcessInfo& process) const;
  bool carries_further(const ProcessInfo& process) const;
  std::set<int64_t> members(const std::vector<ProcessInfo>& all) const;
  std::vector<ProcessInfo> own(const std::vector<ProcessInfo>& all, const std::set<int64_t>& members) const;
  Strangers::Among among(const std::vector<ProcessInfo>& all, const std::set<int64_t>& members) const;
  void forget_answers();

  /// Whether a process carries the marker.
  struct Answer {
    std::string name;  ///< of its program
    Duration first;    ///< when it was asked about for the first time
    Duration asked;    ///< and the last time
    bool carries = false;
    bool further = false;  ///< and another one behind it
  };

  Processes& processes_;
  Clock& clock_;
  std::function<void(const std::string&)> say_;
  int attempt_ = 0;
  std::string marker_;
  std::set<std::pair<int64_t, uint64_t>> known_;  ///< members that were seen: number and start
  std::vector<ProcessInfo> snapshot_;
  mutable std::map<std::pair<int64_t, uint64_t>, Answer> answers_;  ///< likewise of all that began after the command
  std::vector<ProcessId> unmarked_;
  Strangers strangers_;
  bool said_who_stays_ = false;
  ProcessId keeper_, child_;
  Duration asked_;     ///< when it was first asked to end
  int first_ = 0;      ///< the signal that asks first; 0: SIGINT
  int asked_for_ = 0;  ///< rungs of ask_to_end() that were climbed
  int cleared_ = 0;    ///< likewise of end_remaining()
};

}  // namespace mw
