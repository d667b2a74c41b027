// Who, of the processes that came from an attempt, is somebody else's all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "platform/process.h"

namespace mw {

/// What a terminal server (tmux, screen, sshd, Jupyter, …) that the command opened opens again and again, for whoever
/// comes, has the attempt's marker and descends from it, as the server does. Of the command is what began with the
/// server; what came later than a moment after it was opened by somebody, with all that came of it, and so long the
/// server has to stay, too. So has another run's, which carries a further marker, with its keeper, unless the command
/// itself supervises that run.
class Strangers {
 public:
  struct Among {
    const std::vector<ProcessInfo>& all;  ///< processes of the machine
    const std::set<int64_t>& members;     ///< those that came from the attempt
    ProcessId keeper, child;              ///< the attempt's own
    /// Does one of them carry a further marker?
    std::function<bool(const ProcessInfo&)> carries_further;
  };
  /// Those of the members that are somebody else's, by their numbers.
  std::set<int64_t> in(const Among& among) const;
  /// The same, and they are known from now on when their parents are gone.
  void learn(const Among& among);
  void forget() { *this = {}; }

 private:
  bool is_known(const ProcessInfo& process) const { return known_.count({process.id.pid, process.id.start}) != 0; }
  struct Found {
    std::set<int64_t> opened;   ///< by somebody, with all that came of it
    std::set<int64_t> servers;  ///< that have to stay for it
  };
  Found find(const Among& among, bool& nests) const;

  std::set<std::pair<int64_t, uint64_t>> known_;  ///< number and start
  bool nests_ = false;                            ///< the command was seen to run a midwatch of its own
};

}  // namespace mw
