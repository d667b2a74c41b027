// What a keeper did and saw, as it wrote it down: the daemon reads it, whichever daemon is alive by then.
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
  int code = -1;      ///< exit code, or -1: ended by a signal, or not known
  int signal = 0;     ///< 0: none
  bool core = false;  ///< a core dump was written
  bool known = true;  ///< false: the keeper that was its parent died first, so nobody was told how it ended
  double user_s = 0, system_s = 0;  ///< processor time of it and its reaped children
  int64_t peak_bytes = 0;           ///< largest resident set of any of them
};

/// "exit status 3", "exit status -9, ended by signal 9, core dumped", "how is not known".
std::string outcome_text(const Ending& ending);

/// The fold of a keeper's record.
struct Kept {
  std::string boot;  ///< which start of the machine; process starts count from there
  ProcessId keeper;  ///< the newest, when one took over from another
  ProcessId forked;  ///< what is to become the command, and waits until this is on the disk
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

/// What the next keeper makes of the record that one left which was killed.
enum class Left {
  kNothing,  ///< the command was never begun, and never will be by what was forked: start it
  kWaits,    ///< not to be told yet: what was forked lives, and either ends at once or becomes the command
  kCommand,  ///< the command was begun, as the process that was forked or recorded: look after that one
};
/// `lives`: of what was forked; asked before `went`: is there a file kWentFile. `here`: on the same start of the
/// machine, else nothing waits, and what was forked counts as begun.
Left what_was_left(const Kept& kept, bool lives, bool went, bool here);

/// Applies one line; lines of a newer midwatch that it does not know change nothing.
void fold_record(Kept& kept, std::string_view json);

/// Reads the record in a keeper's folder. An empty one (the keeper has not begun yet) gives an empty Kept.
Result<Kept> read_kept(Disk& disk, const std::string& keeper_folder);

}  // namespace mw
