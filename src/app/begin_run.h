// The folder of a supervised run: made for a new one, found for one that is reattached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/requests.h"
#include "base/result.h"
#include "platform/doors.h"
#include "platform/process.h"

namespace mw {

/// The folder of the run that is begun (it and its run.json are there then), or of the one that is reattached. `input`
/// is kept there for the command's attempts.
Result<std::string> begin_or_find(const Doors& doors, Processes& processes, const RunRequest& request,
                                  const std::string& input);

/// What a run is called that nobody named: "20260219-090811-train", with "-2" behind it where there is one already.
std::string new_run_name(Disk& disk, const std::string& home, Time now, const std::vector<std::string>& command);
/// Where a run of that name is recorded, or would be, below `home` (as given).
std::string run_folder_of(const std::string& home, const std::string& name);
/// The same for a run that begins. kInvalid: no run may be called so, or there is one already.
Result<std::string> new_run_folder(Disk& disk, const std::string& home, const std::string& name);

/// May a run be called so? Letters, digits, dots, dashes and underlines; it begins with a letter, a digit or '_'.
bool is_run_name(std::string_view name);
Error not_a_run_name(const std::string& name);

/// `words` without the secret values that are known of a run: of this process's environment, and of its own.
std::vector<std::string> hidden_words(const RunSpec& spec, const std::vector<std::string>& words);

}  // namespace mw
