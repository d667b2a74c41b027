// Names in the folder of a supervised run, and the file that says what it is to do.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/supervise/run_spec.h"
#include "platform/disk.h"

namespace mw {

/// Names within a run's folder.
inline constexpr std::string_view kRunSpecFile = "run.json";
inline constexpr std::string_view kOldRunSpecFile = "charge.json";  ///< of midwatch 0.1; still read
inline constexpr std::string_view kAttemptsFolder = "attempts";  ///< attempts/1, attempts/2, …: a keeper's folder each
inline constexpr std::string_view kFilesBeforeFile =
    "files-before.json";                                 ///< what its files held before (read/new_content.h)
inline constexpr std::string_view kInputFile = "input";  ///< what the command is given as its standard input
inline constexpr std::string_view kOutputFile = "output/train.log";  ///< of all attempts, one after another

/// Where the specification of the run in `run_folder` lies, under its present or its old name; "": nowhere.
std::string run_spec_path(Disk& disk, const std::string& run_folder);
/// Its text.
Result<std::string> read_run_spec(Disk& disk, const std::string& run_folder);
/// The same, parsed; kNotFound where `midwatch run` did not begin that run.
Result<RunSpec> load_run_spec(Disk& disk, const std::string& run_folder);

}  // namespace mw
