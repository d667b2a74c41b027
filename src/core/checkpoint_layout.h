// How a framework names its checkpoints, and how it finds the newest: from its dialect (docs/formats/dialect.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Words on the trainer's command line by which it resumes; {path}, {root} and {step} stand for the checkpoint's
/// folder, the folder of all of them, and its step.
struct ResumeWords {
  std::string when;                ///< only where the command has this in it; "": always
  std::vector<std::string> words;  ///< none: it resumes by itself
};

struct CheckpointLayout {
  std::string folder;        ///< of one step, under the checkpoints' folder: "global_step_{step}", "iter_{step:07}"
  std::string pointer;       ///< file there that names the newest; "" = the framework takes the highest step
  std::string pointer_text;  ///< what stands in it: "{step}", "global_step{step}"
  std::vector<ResumeWords> resume = {};  ///< the first that fits; none = how it is made to resume is not known
  /// The name of the folder in which its trainer puts all of them: "checkpoints"; "": any.
  std::string below = {};
  /// The number in `folder` counts saves (accelerate's checkpoint_0, checkpoint_1): it orders the checkpoints of one
  /// folder, and must not be compared with a step of the training.
  bool counts_saves = false;
  /// Its trainer takes every folder beside the checkpoints for one of them: it counts it, and may delete it or end over
  /// its name.
  bool takes_any_folder = false;
  bool known() const { return !folder.empty(); }
  /// May a checkpoint be a single file ("ckpt_{step}.pt"), and may it be a folder? ".ckpt" are both.
  bool names_files() const;
  bool names_folders() const;
};

/// `pattern` with "{step}", or "{step:07}" (padded with zeros), replaced.
std::string with_step(std::string_view pattern, int64_t step);
/// The step for which with_step(pattern, step) is `name`; nullopt when there is none.
std::optional<int64_t> step_in(std::string_view pattern, std::string_view name);
/// What a person calls the checkpoint with that number: "the checkpoint of step 30", or, where numbers count saves,
/// "the checkpoint checkpoint_3".
std::string checkpoint_called(const CheckpointLayout& layout, int64_t number);
/// Likewise in a sentence that goes on from "checkpoints from": "step 30", "checkpoint_3".
std::string number_called(const CheckpointLayout& layout, int64_t number);
/// The step of the training that the number says; kNoStep where it counts saves.
int64_t step_of_number(const CheckpointLayout& layout, int64_t number);
/// Is it a pattern of one name within a folder, with exactly one step in it?
bool is_step_pattern(std::string_view pattern);

}  // namespace mw
