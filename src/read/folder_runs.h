// Several runs in one folder.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// "rank_0", "logs", "global_step_100", "0": nothing in the name but what components and their numbers are called.
bool is_component_name(std::string_view name);

/// The folders below `root` that may each hold a run of their own, by their names, with those of `files` (paths) in
/// them: siblings that are not named after a component of one (rank_0, logs, wandb, checkpoint-100, attempt_2). A
/// folder that holds nothing but another one is passed through. In byte order; empty where there are fewer than two.
std::vector<std::string> folders_like_runs(std::string_view root, const std::vector<std::string>& files);

/// Which of such `folders` are runs of their own, as `state` shows, into which the files of all of them were read. Each
/// group in the answer is one run: of two folders in one, the later one continues the earlier one's steps or has the
/// same figures. Two runs of one recipe have different figures at the same steps. Empty where it is one run, where
/// fewer than two have steps, and where a file outside the folders has steps.
std::vector<std::vector<std::string>> runs_in_folders(const State& state, const std::vector<std::string>& folders);

/// The files of one folder that are runs of their own, as `state` shows, into which all its files were read: each
/// counts steps from about the same beginning, and at the steps that two of them have nearly all figures differ, under
/// the same names. Each group in the answer is one run with the further views of it: files with the same figures, and
/// those whose names are most like. Logs of ranks and of other components are views. Empty where it is one run.
std::vector<std::vector<std::string>> runs_in_files(const State& state);

/// The same of the first record of `source`, before it is folded: steps begin anew while other files of the folder are
/// further, and had other figures there. `quiet`: was this file not written for a while before `source` was? Then less
/// has to differ, and the steps need not have gone back by much.
bool begins_another_run(const State& state, uint32_t source, const event::Measured& measured,
                        const std::function<bool(const std::string& path)>& quiet);

}  // namespace mw
