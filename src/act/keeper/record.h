// The keeper's record of what it did and saw: read by the midwatch that supervises the run, also by a later one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

/// How the command ended.
struct Ending {
  Time at;
  int code = -1;                    ///< exit code, or -1: ended by a signal, or not known
  int signal = 0;                   ///< 0: none
  bool core = false;                ///< a core dump was written
  bool known = true;                ///< false: the keeper that was its parent died first, so its exit status is lost
  double user_s = 0, system_s = 0;  ///< processor time of it and its reaped children
  int64_t peak_bytes = 0;           ///< largest resident set of any of them
};

/// "exit status 3", "exit status -9, ended by signal 9, core dumped", "how is not known".
std::string outcome_text(const Ending& ending);
/// The same in a sentence, after its subject: "ended by signal 9, core dumped".
std::string ended_how(const Ending& ending);

/// The fold of a keeper's record.
struct Kept {
  std::string boot;  ///< id of the machine's boot; process start times count from it
  ProcessId keeper;  ///< the newest, when one took over from another
  ProcessId forked;  ///< will execute the command; waits until this record is on the disk
  ProcessId child;   ///< the command; not known before it was started
  Time started;
  std::string failure;           ///< why the command could not be started; "" when it could
  std::optional<Ending> ending;  ///< unset while it runs
  bool done = false;             ///< no descendant is left, and all output is in the file
  uint64_t lost_bytes = 0;       ///< of output, while the disk was full
};

/// Lines for the record. Each changes Kept when it is read back.
std::string record_keeping(const ProcessId& keeper, std::string_view boot, Time at);
std::string record_forked(const ProcessId& child, Time at);
std::string record_started(const ProcessId& child, Time at);
std::string record_failed(std::string_view why, Time at);
std::string record_ended(const Ending& ending);
std::string record_lost(uint64_t bytes_in_all, Time at);
std::string record_done(Time at);

/// What the next keeper concludes from the record of a killed one.
enum class Left {
  kNothing,  ///< the command was not started, and the forked process will not start it: start it
  kWaits,    ///< not known yet: the forked process is alive, and either exits at once or executes the command
  kCommand,  ///< the command was started, as the forked or recorded process: supervise that one
};
/// `lives`: the forked process is alive; check this before `went`: the file kWentFile exists. `here`: the machine was
/// not rebooted since; otherwise nothing waits, and a forked command counts as started.
Left what_was_left(const Kept& kept, bool lives, bool went, bool here);

/// Applies one line; ignores unknown ones, which a newer midwatch may have written.
void fold_record(Kept& kept, std::string_view json);

/// A file that takes a few lines of the record even where the disk is full by then: its room was taken before.
class SpareRecord {
 public:
  explicit SpareRecord(const std::string& path);
  ~SpareRecord();
  SpareRecord(const SpareRecord&) = delete;
  SpareRecord& operator=(const SpareRecord&) = delete;
  void put(std::string_view line);
  /// Once all is in the record itself.
  void drop();

 private:
  std::string path_;
  int file_ = -1;
  size_t used_ = 0;
};

/// Reads the record in a keeper's folder. An empty one (the keeper has not begun yet) gives an empty Kept.
Result<Kept> read_kept(Disk& disk, const std::string& keeper_folder);

}  // namespace mw
