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
  bool known() const { return !folder.empty(); }
};

/// `pattern` with "{step}", or "{step:07}" (padded with zeros), replaced.
std::string with_step(std::string_view pattern, int64_t step);
/// The step for which with_step(pattern, step) is `name`; nullopt when there is none.
std::optional<int64_t> step_in(std::string_view pattern, std::string_view name);
/// Is it a pattern of one name within a folder, with exactly one step in it?
bool is_step_pattern(std::string_view pattern);

}  // namespace mw
