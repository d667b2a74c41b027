// Several runs in one folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// The folders below `root` that may each hold a run of their own, by their names, with those of `files` (paths) in
/// them: siblings that are not named after a component of one (rank_0, logs, wandb, checkpoint-100, attempt_2). A
/// folder that holds nothing but another one is passed through. In byte order; empty where there are fewer than two.
std::vector<std::string> folders_like_runs(std::string_view root, const std::vector<std::string>& files);

/// Which of such `folders` are runs of their own, as `state` shows, into which the files of all of them were read. Each
/// group in the answer is one run: of two folders in one, the later one continues the earlier one's steps or has the
/// same figures. Two runs of one recipe have different figures at the same steps. Empty where it is one run, where
/// fewer than two have steps, and where a file outside the folders has steps.
std::vector<std::vector<std::string>> runs_in_folders(const State& state, const std::vector<std::string>& folders);

}  // namespace mw
