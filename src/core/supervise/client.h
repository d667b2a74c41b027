// Commands that hand the training to somebody else and follow it (`ray job submit`, `docker run`): it is no process
// below them, gets none of their signals, and goes on when they are gone. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/state.h"
#include "core/supervise/policy.h"

namespace mw {

struct Client {
  std::string_view program, verb, second;  ///< the words that call it; "": with any
  std::string_view called;                 ///< for people
  std::string_view where;                  ///< the training runs: "in a container"
  std::string_view advice;                 ///< how a person sees and ends it
  int own_status = 0;                      ///< by which it ends for a reason of its own; 0: it has none such
  bool says_end = false;                   ///< its output has a word of each end of the training
};

/// The one that a command calls, alone or behind wrappers such as env and sudo; nullptr: none.
const Client* client_of(std::span<const std::string> command);

/// Does the training run elsewhere, by the command or as the output says that a job was submitted and is not over?
bool trains_elsewhere(const State& state, std::span<const std::string> command);

/// In sentences, why the training may go on although the command has ended so; "": it does not.
std::string may_train_on(const State& state, std::span<const std::string> command, const AttemptOutcome& ended);

}  // namespace mw
