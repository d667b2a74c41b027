#include "sense/checkpoints/role_weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr int64_t kLarge = 64 << 10;  // of a file of a format that is not known: it may be one of weights

struct RoleFolder {
  std::string_view framework, folder;
};
constexpr std::array<RoleFolder, 4> kRoles = {
    {{"verl", "actor"}, {"verl", "critic"}, {"skyrl", "policy"}, {"skyrl", "critic"}}};

/// Below a role's folder Megatron's optimizer and the rest of its state are checkpoints of their own.
bool is_of_state(std::string_view folder) {
  constexpr std::array<std::string_view, 2> kStates = {"optimizer", "extra"};
  for (const std::string_view name : split(folder, '/')) {
    if (is_one_of(name, kStates)) return true;
  }
  return false;
}

/// A file of torch.distributed.checkpoint may hold an optimizer alone: of those what was read counts.
bool may_hold_weights(const TreeFile& file) {
  if (ending_of(file.name()) == "distcp") return false;
  return file.role == FileRole::kWeights || (file.role == FileRole::kUnknown && file.bytes >= kLarge);
}

void look_for_weights_of(Examination& exam, const std::string& role) {
  const std::string begin = cat(role, "/");
  const auto is_within = [&](std::string_view folder) { return folder == role || folder.starts_with(begin); };
  const auto holds = [&](const std::string& folder) { return is_within(folder) && !is_of_state(folder); };
  if (std::any_of(exam.weights_in().begin(), exam.weights_in().end(), holds)) return;
  // What is wrong with its files was said, and may be why none of them counts.
  const auto is_said = [&](const CheckpointProblem& one) { return one.breaks && is_within(one.path); };
  if (std::any_of(exam.problems().begin(), exam.problems().end(), is_said)) return;
  int64_t bytes = 0;
  for (const TreeFile& file : exam.tree().files()) {
    const std::string_view folder = folder_in_tree(file.path);
    if (!is_within(folder)) continue;
    if (may_hold_weights(file) && !is_of_state(folder)) return;
    bytes += file.bytes;
  }
  exam.problem(Trouble::kMissing, role,
               cat("its weights are missing: only ", format_bytes(static_cast<double>(bytes)),
                   " of settings and states are in it"));
}

}  // namespace

std::string_view role_in(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  const auto* const found =
      std::find_if(kRoles.begin(), kRoles.end(), [first](const RoleFolder& role) { return role.folder == first; });
  return found == kRoles.end() || first.size() == path.size() ? std::string_view() : found->folder;
}

void look_for_weights_of_roles(Examination& exam) {
  if (exam.weights() == 0 || exam.tree().single_file()) return;
  for (const RoleFolder& role : kRoles) {
    if (exam.framework() == role.framework && exam.tree().has_folder(role.folder))
      look_for_weights_of(exam, std::string(role.folder));
  }
}

}  // namespace mw
