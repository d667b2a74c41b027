// "Saved model to out/step_5": what trainers that nobody described say of a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/event.h"
#include "read/lines/rare_bytes.h"

namespace mw {

struct SaveLine {
  int64_t step = kNoStep;  ///< as the line or its path says
  std::string_view path;   ///< into the line; "" when it names none
  bool complete = true;    ///< false: the save only begins
};

/// nullopt for lines of other things that are saved (samples, settings, plots), of saves that failed or are yet to
/// come, and of what is loaded. `rare`: of the line that it is, or is a part of.
std::optional<SaveLine> read_save(std::string_view text, RareBytes rare = {});

/// "Deleted old checkpoint out/step_5": what such trainers say of one that they delete. nullopt where the line does not
/// say which step, where it failed or is yet to come, and where a copy is deleted (behind an upload, say).
std::optional<SaveLine> read_removal(std::string_view text);

/// The word of a line that is a path: it has a slash, or the name of a file of weights. "": there is none.
std::string_view path_in(std::string_view text);
/// The last number in the last part of a path: "out/ckpt_10.pt", "step-10/", "000010.safetensors". kNoStep: none.
int64_t step_of_path(std::string_view path);

}  // namespace mw
