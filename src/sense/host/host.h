// The machine under the run: one file each for processes, memory, disks and so on. A part begins a round (begin), may
// make slow calls on a background thread, and reports what it saw when all of it is there (collect).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "platform/gpus.h"
#include "platform/system.h"

namespace mw::host {

/// What of the machine is the run's business.
struct Aim {
  int64_t root = 0;                  ///< pid of the process above all of the run's; 0: not known
  std::vector<std::string> folders;  ///< absolute; where the run writes
  std::string checkpoint;            ///< absolute path of the newest that was saved; "" when none is known
};

/// Where a part reports what it saw.
class Notes {
 public:
  virtual ~Notes() = default;
  /// A figure under its canonical name (core/signal.h); `thing` says of what: a mount, a GPU's number, a process.
  virtual void figure(std::string_view signal, std::string_view thing, double value) = 0;
  /// Something happened that a signature of knowledge/ stands for.
  virtual void happened(std::string_view signature, std::string_view text) = 0;
  /// A line for the signatures to look at, as the kernel or a driver has it.
  virtual void line(std::string_view text) = 0;
  /// For the reader, once: what cannot be seen here, and why.
  virtual void unseen(std::string_view what) = 0;
};

class Part {
 public:
  virtual ~Part() = default;
  /// "memory": the events of this part come from the source "host:memory".
  virtual std::string_view name() const = 0;
  /// Measures, or starts to. `now` is by the steady clock. Not before collect() was true.
  virtual void begin(const Aim& aim, Duration now) = 0;
  /// Reports what was seen. False: calls are still out; ask again soon.
  virtual bool collect(Notes& notes, Duration now) = 0;
  /// A background thread still uses the system, and may for ever.
  virtual bool busy() const { return false; }
};

/// A process of the run that was there in the last round and is not (or is dead) now.
struct Gone {
  int64_t pid = 0;
  std::string name;
  double bytes = 0;      ///< its resident memory then
  bool largest = false;  ///< none of the run's had more
};

/// What the processes part leaves for those that come after it in the same round.
struct Seen {
  std::vector<Gone> gone;
  std::vector<int64_t> pids;                     ///< of the run's processes
  std::set<std::string> names;                   ///< theirs
  std::set<std::string, std::less<>> gpus;       ///< places on the bus of those whose processes the driver names
  std::set<std::string, std::less<>> used_gpus;  ///< of them, on which a process of the run has been seen
  bool kernel_log = false;  ///< the kernel's log can be read, so that nobody has to guess whom it killed
};

/// `root` given: CPU, memory, threads, open files and states of it and its descendants. The machine's CPU in any case.
std::unique_ptr<Part> make_processes(System& system, Seen& seen);
/// The machine's memory, and that of the run's cgroup (v1 and v2) with its OOM kills.
std::unique_ptr<Part> make_memory(System& system, const Seen& seen);
/// Pressure stall information (Linux 4.20 and later).
std::unique_ptr<Part> make_pressure(System& system);
/// File systems that the run uses, /dev/shm, and the size of its newest checkpoint.
std::unique_ptr<Part> make_disks(std::shared_ptr<System> system);
/// Bytes and errors of the network interfaces.
std::unique_ptr<Part> make_network(System& system);
/// The kernel's own log, where it may be read.
std::unique_ptr<Part> make_kernel_log(System& system, Seen& seen);
/// Core dumps that appear where the run's processes work, or where the kernel is configured to put them. `since`: older
/// ones are not this run's.
std::unique_ptr<Part> make_core_dumps(std::shared_ptr<System> system, const Seen& seen, Time since);
/// The GPUs. `gpus` is asked on a thread of its own. What happens on a GPU that others use and the run does not is left
/// out, and so is the fault of somebody else's process.
std::unique_ptr<Part> make_gpu_part(std::shared_ptr<Gpus> gpus, Seen& seen);

// ---- taking small kernel files apart; pure, for the parts and their tests ------------------------------------------

/// The number behind `key` in lines of "key value" or "key: value kB"; -1 when there is none. kB are taken as 1024.
int64_t value_of(std::string_view text, std::string_view key);
/// The mount point that `path` lies under, by /proc/self/mounts; "" when none fits. Octal escapes are undone.
std::string mount_of(std::string_view mounts, std::string_view path);
/// The path of the process's cgroup for `controller` ("memory"; "" is the unified hierarchy) in /proc/PID/cgroup; ""
/// when it has none.
std::string cgroup_of(std::string_view text, std::string_view controller);

}  // namespace mw::host
