// What is done to the processes of an attempt: asked to end, killed, held still, let go on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/clock.h"
#include "platform/process.h"

namespace mw {

/// Signals to everything that came from one attempt. Each ladder of signals is climbed once.
class Grip {
 public:
  Grip(Processes& processes, Clock& clock, std::function<void(const std::string&)> say)
      : processes_(processes), clock_(clock), say_(std::move(say)) {}

  /// From now on this attempt's; nothing was sent yet.
  void take(int attempt);
  /// Of whom: the keeper while it lives, and the command once it is known; both of this start of the machine.
  void of(const ProcessId& keeper, const ProcessId& child) {
    keeper_ = keeper;
    child_ = child;
  }

  /// SIGINT to the command's session as Ctrl-C sends it, SIGTERM when half of `grace` has passed since the first call,
  /// SIGKILL to all that came from it when all of it has, or at once where `now` says so. Call it again and again.
  void ask_to_end(Duration grace, bool now);
  bool asked() const { return asked_for_ > 0; }
  /// SIGKILL to all that came from it, without asking.
  void kill();
  /// The command has ended `ago`: what it left behind is asked to end, later killed. Call it again and again.
  void clear_leftovers(Duration ago);
  /// Does anything live that came from it?
  bool leftovers() const;

  /// Holds everything that came from it still (SIGSTOP), what came since the last call too. Returns how many are held.
  size_t hold_still();
  /// Likewise lets go on what is held still.
  size_t let_go_on();

 private:
  std::vector<ProcessInfo> family() const;

  Processes& processes_;
  Clock& clock_;
  std::function<void(const std::string&)> say_;
  int attempt_ = 0;
  ProcessId keeper_, child_;
  Duration asked_;     ///< when it was first asked to end
  int asked_for_ = 0;  ///< rungs of ask_to_end() that were climbed
  int cleared_ = 0;    ///< likewise of clear_leftovers()
};

}  // namespace mw
