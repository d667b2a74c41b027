// What the verbs about a run share: which one is meant, by paths (they are replayed) or as it was recorded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/cli/verb.h"
#include "ui/view/overview.h"

namespace mw {

/// What to do where nothing of a run was found in what was given.
inline constexpr std::string_view kGiveRun =
    "Give the files or the folder of a run: its logs, metrics, W&B or TensorBoard files. If it is the log of a trainer "
    "of your own, name its reward in midwatch.toml: [signals] reward = \"…\"";

/// The options --run and --home: which recorded run.
void declare_which(ArgSpec& spec);
void declare_run(ArgSpec& spec);
/// That `folder` holds several runs, where one is wanted; it lists them.
Error one_run_wanted(const std::string& folder, const Replayed& replayed);
/// Replays; kInvalid when the folder given holds several runs; kUnsupported when all could be read and nothing of it is
/// what a run writes.
Result<std::unique_ptr<Replayed>> replay_known(const ReplayRequest& request, Services& services);
/// What the words `paths` name; a word that is no file may be the name of a recorded run.
Result<std::unique_ptr<Replayed>> take_run(const Args& args, Services& services, const Heard& heard = {});
/// The same for these words, in place of the verb's own.
Result<std::unique_ptr<Replayed>> take_run_of(const std::vector<std::string>& paths, const Args& args,
                                              Services& services, const Heard& heard = {});
/// Where no file is called `name`, which a replay found, the recorded run of that name, in `home` ("": anywhere).
Result<std::unique_ptr<Replayed>> recorded_instead(Result<std::unique_ptr<Replayed>> replayed, const std::string& name,
                                                   const std::string& home, Services& services,
                                                   const Heard& heard = {});

/// "--since": "" (the whole run), a step ("120", "step:120") or a UTC time ("2026-02-19T10:00", with or without
/// seconds).
Result<Cycle> parse_since(const std::string& text);

}  // namespace mw
