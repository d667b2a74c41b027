// The door to processes: who they are, who their parents are, and signals that cannot hit a stranger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// Set in the environment of every process of a supervised command: the markers of the attempts that it belongs to,
/// separated by ':', the outermost first, as an attempt may itself supervise a run.
inline constexpr const char* kMarkerVariable = "MIDWATCH_ATTEMPT_MARK";

/// A process by its number and when it started, so that another process that got the number later is not taken for it.
struct ProcessId {
  int64_t pid = 0;     ///< 0: none
  uint64_t start = 0;  ///< clock ticks since the machine started (field 22 of /proc/PID/stat)
  bool operator==(const ProcessId&) const = default;
  bool known() const { return pid > 0; }
};

struct ProcessInfo {
  ProcessId id;
  int64_t parent = 0, group = 0, session = 0;
  char state =
      '?';  ///< as in /proc/PID/stat: R running, S sleeping, D waiting for a device, Z dead and not reaped, T stopped
  std::string name;  ///< at most 15 bytes
};

class Processes {
 public:
  virtual ~Processes() = default;
  /// kNotFound when there is no such process (any more). A dead one that nobody has reaped is still found.
  virtual Result<ProcessInfo> info(int64_t pid) = 0;
  /// All that can be seen, by ascending pid.
  virtual std::vector<ProcessInfo> all() = 0;
  /// Sends `signal` to this very process; kNotFound when it is gone, kDenied when it is another user's.
  virtual Result<void> signal(const ProcessId& id, int signal) = 0;
  /// Identifies this start of the machine, and on it this numbering of processes (a container that is started again
  /// counts from 1 again); what is known of processes of another one means nothing. "" when it is not known.
  virtual std::string boot() = 0;
  /// Was this process started with `marker` among the markers in its environment? False when that cannot be read, and
  /// for one that wrote over its environment, as programs do that change their title.
  virtual bool carries(const ProcessInfo& process, std::string_view marker) = 0;
  /// Does it carry, behind `marker`, the marker of a run within that attempt: of another midwatch? Of one that
  /// carries().
  virtual bool carries_further(const ProcessInfo& process, std::string_view marker) = 0;
  /// Is it just becoming another program (execve)? The kernel shows neither command line nor environment until the new
  /// one is loaded, which on a loaded machine takes a while.
  virtual bool between_programs(const ProcessInfo& process) = 0;
};

std::unique_ptr<Processes> make_posix_processes();

/// Did boot() return both on the same start of the machine? An older midwatch did not record the numbering.
bool same_boot(std::string_view recorded, std::string_view now);

/// Is `marker` one of those in an environment as /proc/PID/environ has it?
bool environment_carries(std::string_view environment, std::string_view marker);

/// Likewise, and another one behind it.
bool environment_carries_further(std::string_view environment, std::string_view marker);

/// This very process is there and has not ended. False for none.
bool lives(Processes& processes, const ProcessId& id);

/// Takes the content of /proc/PID/stat apart (proc(5)). The name may hold anything, brackets and spaces too.
Result<ProcessInfo> parse_process_stat(std::string_view text);

/// The descendants of `root` among `all`, parents before their children; `root` itself is not one.
std::vector<ProcessInfo> descendants(const std::vector<ProcessInfo>& all, int64_t root);

}  // namespace mw
