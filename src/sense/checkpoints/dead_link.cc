#include "sense/checkpoints/dead_link.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

/// Folders of the frameworks' layouts that a resume reads.
bool is_part(std::string_view name) {
  constexpr std::array<std::string_view, 17> kParts = {
      "actor",        "critic",        "policy",    "ref",       "reference",    "value",
      "model",        "model_weights", "weights",   "optimizer", "orchestrator", "trainer",
      "lora_adapter", "adapter",       "dist_ckpt", "shards",    "dataloader"};
  return is_one_of(name, kParts);
}

/// Folders that no trainer reads again.
bool is_of_a_log(std::string_view name) {
  constexpr std::array<std::string_view, 10> kLogs = {"log",    "logs",   "runs",    "wandb",   "tensorboard",
                                                      "mlruns", "events", "samples", "figures", "profile"};
  return is_one_of(name, kLogs);
}

/// By its text it was to lead into a checkpoint.
bool names_step(std::string_view text) {
  const auto parts = split(text, '/');
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return step_of_name(part) != kNoStep; });
}

bool is_loaded(Examination& exam, const std::string& link) {
  const std::string name = to_lower(basename(link));
  if (is_needed(basename(link))) return true;
  if (name.find('.') != std::string::npos || is_of_a_log(name) || is_export(cat(link, "/"))) return false;
  if (is_part(name)) return true;
  const auto text = exam.disk().read_link(exam.tree().full(link));
  return text.ok() && names_step(*text);
}

}  // namespace

void look_at_dead_link(Examination& exam, const std::string& link) {
  const auto known = [&link](const CheckpointProblem& one) { return one.path == link; };
  if (std::any_of(exam.problems().begin(), exam.problems().end(), known))  // it is said to be missing by now
    return exam.note(cat(link, " is a link that leads nowhere"));
  const bool needed = is_loaded(exam, link);
  exam.problem(Trouble::kMissing, link,
               needed ? "it is a link that leads nowhere" : "it is a link that leads nowhere, and nothing needs it",
               needed);
}

}  // namespace mw
