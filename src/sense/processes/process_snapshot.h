// What a process does at this very moment, thread by thread: where each one waits, and with whom the process is
// connected. Evidence of a run that is stuck. It only reads /proc (proc(5)); what may not be read is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/process.h"
#include "platform/system.h"
#include "sense/processes/sockets.h"

namespace mw::components {

/// A system call that a thread waits in, of the text of /proc/PID/syscall.
struct Call {
  std::string name;         ///< "recvfrom"; "system call 451" of one without a name here; "" when it is in none
  int64_t descriptor = -1;  ///< the open file that it is about, where its first argument is one
};
Call call_of(std::string_view text);

struct ThreadSnapshot {
  int64_t id = 0;
  std::string name;
  char state = '?';    ///< as ProcessInfo::state
  int64_t ticks = 0;   ///< of processor time, so far
  std::string kernel;  ///< the function of the kernel that it sleeps in; "" when it does not, or that may not be read
  Call call;
  std::string on;  ///< what `call.descriptor` is: "127.0.0.1:8000 (ESTABLISHED)", "a pipe", a path; "" when not known
  std::string stack;  ///< the kernel's, a line for each function; "" when it may not be read
};

struct ProcessSnapshot {
  ProcessInfo info;
  std::string label;   ///< "train.py"
  std::string among;   ///< "unlike 7 others, which run": of one that differs from its like; "" mostly
  int64_t ticks = 0;   ///< of processor time, of all its threads, so far
  size_t threads = 0;  ///< that it has
  std::vector<ThreadSnapshot> thread_snapshots;  ///< the main thread first; kThreads at most
  size_t files = 0;                              ///< that it has open, as far as they were looked at
  std::vector<Connection> connections;           ///< its TCP sockets
};
constexpr size_t kThreads = 256;

/// Whose processes, and which of them are suspected first.
struct Suspicion {
  int64_t root = 0;             ///< above all of the run's
  bool root_too = false;        ///< it is one of them; else it is only their parent
  int64_t session = 0;          ///< whose other processes are the run's, too; 0: none
  std::vector<int64_t> of;      ///< components that are in trouble
  std::vector<std::string> at;  ///< likewise, by the addresses at which they listen
};

struct RunSnapshot {
  /// Those in trouble, then those that do something else than their like, then those that have worked the most;
  /// kSnapshots at most.
  std::vector<ProcessSnapshot> suspects;
  std::string tree;  ///< all processes of the run, a line each
};
constexpr size_t kSnapshots = 3;

RunSnapshot snapshot_run(System& system, const Suspicion& suspicion);
/// nullopt when this very process is gone.
std::optional<ProcessSnapshot> snapshot_process(System& system, const ProcessId& id);

/// What else is known when a process is described.
struct Surroundings {
  const ProcessSnapshot* later =
      nullptr;  ///< the same process again, `seconds` after; nullptr: it was gone, or not looked at
  double seconds = 0;
  std::string stacks;                                      ///< its innermost functions, in words; "" when not known
  std::vector<std::pair<std::string, std::string>> peers;  ///< addresses and who listens there: "engine, silent"
  std::string gpus;                                        ///< "GPUs idle"; "" when not known
};

/// One short line: "34 threads, the main thread waits in recvfrom on 10.0.0.7:8000; …".
std::string sentence_of(const ProcessSnapshot& snapshot, const Surroundings& around);
/// All of it, for a file.
std::string full_text(const ProcessSnapshot& snapshot, const Surroundings& around);

}  // namespace mw::components
