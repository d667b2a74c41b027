// Where a run's checkpoints lie, and what is known of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

/// The disk did not answer: what was asked is not known, which is not the same as nothing.
inline bool is_silent(const Error& error) { return error.code == Error::Code::kIo; }

/// The part of a checkpoint's path before the folder that is named after its step; "" when there is none.
std::string root_of(const std::string& path, const CheckpointLayout& layout);

/// The folder in which the run's log says that all of its checkpoints lie, absolute, a relative one from `folder` on;
/// "": it does not say.
std::string said_folder(const State& state, const std::string& folder);

/// The checkpoint that `path` is, or lies in: its folder, as it is named there; "" when there is none.
std::string checkpoint_in(const std::string& path, const CheckpointLayout& layout);

/// The folders that hold checkpoints of that layout: `declared` ones and their subfolders; and, below declared ones
/// where there are some, those that the run's files name, relative ones from `folder` on, and those that its processes
/// were seen to write; likewise those that its own words name (`command`), where nothing is declared only of a command
/// that says nothing of its saves. Only folders in which there is one; what is missing or not to be read holds none.
/// kIo when the disk does not answer: then nobody knows.
Result<std::vector<std::string>> checkpoint_roots(Disk& disk, const State& state, const CheckpointLayout& layout,
                                                  const std::vector<std::string>& declared, const std::string& folder,
                                                  const std::vector<std::string>& command);

/// The source of events about scans of checkpoints.
inline constexpr std::string_view kScanSource = "host:checkpoints";
/// The last recorded scan of the checkpoint at `path`; nullptr: there is none.
const std::pair<Moment, event::CheckpointSeen>* last_scan_of(const State& state, const std::string& path);
/// `seen` with the step at which the run's log last says that this checkpoint was saved, where its name says none.
event::CheckpointSeen with_logged_step(const State& state, const CheckpointLayout& layout, event::CheckpointSeen seen);
/// Does it differ from the last recorded scan of that checkpoint?
bool is_news(const State& state, const event::CheckpointSeen& seen);
/// The highest step that the last attempt saved, as its files say or a scan during it shows, and that neither `state`
/// nor `seen` shows to be broken.
int64_t last_good_checkpoint(const State& state, const std::vector<event::CheckpointSeen>& seen);

}  // namespace mw
