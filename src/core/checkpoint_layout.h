// How a framework names its checkpoints, and how it finds the newest: from its dialect (docs/formats/dialect.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mw {

struct CheckpointLayout {
  std::string folder;        ///< of one step, under the checkpoints' folder: "global_step_{step}", "iter_{step:07}"
  std::string pointer;       ///< file there that names the newest; "" = the framework takes the highest step
  std::string pointer_text;  ///< what stands in it: "{step}", "global_step{step}"
  bool known() const { return !folder.empty(); }
};

/// `pattern` with "{step}", or "{step:07}" (padded with zeros), replaced.
std::string with_step(std::string_view pattern, int64_t step);
/// The step for which with_step(pattern, step) is `name`; nullopt when there is none.
std::optional<int64_t> step_in(std::string_view pattern, std::string_view name);
/// Is it a pattern of one name within a folder, with exactly one step in it?
bool is_step_pattern(std::string_view pattern);

}  // namespace mw
