#include "core/shell_word.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

bool shell_lost_trainer(std::string_view text) {
  constexpr std::array<std::string_view, 11> kDeaths = {"Segmentation fault",
                                                        "Aborted",
                                                        "Bus error",
                                                        "Killed",
                                                        "Illegal instruction",
                                                        "Floating point exception",
                                                        "Hangup",
                                                        "Quit",
                                                        "User defined signal",
                                                        "CPU time limit exceeded",
                                                        "File size limit exceeded"};
  constexpr std::array<std::string_view, 11> kTrainers = {
      "train", "grpo", "ppo", "rlhf", "main.py", "sft", "dpo", "torchrun", "accelerate", "deepspeed", "verl"};
  const size_t line = text.find(".sh: line ");
  if (line == std::string_view::npos) return false;
  const std::string_view rest = text.substr(line);
  for (const std::string_view death : kDeaths) {
    const size_t at = rest.find(death);
    if (at == std::string_view::npos) continue;
    const std::string_view command = rest.substr(at + death.size());
    return std::any_of(kTrainers.begin(), kTrainers.end(),
                       [command](std::string_view word) { return contains_folded(command, word); });
  }
  return false;
}

bool shell_says_killed(std::string_view text) { return contains(text, " Killed  ") || contains(text, " Terminated  "); }

bool launcher_lost_workers(std::string_view text) {
  return contains(text, "failed (exitcode: ") && contains(text, "local_rank: ");
}

}  // namespace mw
