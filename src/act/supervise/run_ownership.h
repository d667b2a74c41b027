// What a supervised run knows of whose checkpoints are: from its folder, its settings and what its files report.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

/// In a run's folder: what lay there before its first attempt began.
inline constexpr std::string_view kSnapshotFile = "checkpoints-before.json";

/// Folders below which the run may save: those declared, the one it works in, those that are read beside.
std::vector<std::string> places_of(const RunSpec& spec);

/// Writes kSnapshotFile, as it lies there now. kIo when the disk does not answer.
Result<void> keep_snapshot(Disk& disk, Clock& clock, const RunSpec& spec, const std::string& run_folder,
                           const std::function<Result<void>(const std::string&, std::string_view)>& write);

/// kIo when the disk does not answer.
Result<Ownership> ownership_of(Disk& disk, const std::string& run_folder, const RunSpec& spec, const State& state,
                               const CheckpointLayout& layout);

/// Where nothing names the folder in which the run saves: the one below those in which it works, or is said to save,
/// whose checkpoints the last attempt, which began then, made just when its files say so; "": there is none, or more
/// than one.
std::string folder_of_saves(Disk& disk, const RunSpec& spec, const State& state, const CheckpointLayout& layout,
                            Time began);

}  // namespace mw
