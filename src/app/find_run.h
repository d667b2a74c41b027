// Where runs are recorded, and which of them a person means.
#pragma once

#include <string>
#include <vector>

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

/// Leaves a trace of a home that somebody chose, so that its runs are found without naming it: a file in the user's
/// own home (kHomesFolder). Best effort.
void remember_home(Disk& disk, const std::string& home);

/// Folders of all recorded runs below `home`, as given. "" looks below every home that this user has used:
/// $MIDWATCH_HOME alone if set, else the user's own, .midwatch in the working directory (midwatch 0.1), and those that
/// were remembered.
std::vector<std::string> recorded_runs(Disk& disk, const std::string& home);

/// Somebody watches it, or its command lives here.
bool is_live(const RunStatus& status);

enum class Purpose { kReading, kActing };
struct RunName {
  std::string home, run;  ///< as given; "": not given
};
/// The folder of the run that is meant. `run`: its name, a beginning of it that no other run has, or its folder. ""
/// means the only live run; of several live ones the latest begun for reading, and for acting an error that lists them;
/// with none live, the run that was written last. kNotFound, kInvalid.
Result<std::string> find_run(Disk& disk, Processes& processes, Time now, const RunName& name, Purpose purpose);

/// The names of the runs that are live, the latest begun first.
std::vector<std::string> live_runs(Disk& disk, Processes& processes, Time now, const std::string& home);

/// The recorded runs that are asked for, the live ones first, then the latest begun first.
RunsAnswer list_runs(Disk& disk, Processes& processes, Time now, const RunsRequest& request);
/// The run that is recorded in that folder, with what differs from the one before it in the same home.
RunsAnswer::Run one_run(Disk& disk, Processes& processes, Time now, const std::string& folder);

}  // namespace mw
