#include "sense/checkpoints/parts.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr std::string_view kActor = "_actor", kCritic = "_critic";

bool is_there(Disk& disk, const std::string& path) { return disk.info(path).ok(); }

bool any_in(Disk& disk, const std::string& folder, std::string_view beginning) {
  const auto names = disk.list(folder);
  return names.ok() && std::any_of(names->begin(), names->end(), [beginning](const std::string& name) {
           return name.starts_with(beginning) && !name.ends_with(".lock");
         });
}

CheckpointParts with_data(Disk& disk, const std::string& folder, CheckpointParts out) {
  constexpr std::string_view kState = "global_dataset_state_dict_";
  const int64_t step = step_of_name(basename(folder));
  const std::string root = folder_of(folder);
  if (step == kNoStep || !any_in(disk, cat(root, "/rollout"), kState)) return out;
  out.root = root;
  out.own = basename(folder);
  const std::string data = cat("rollout/", kState, step, ".pt");
  if (is_there(disk, cat(root, "/", data))) {
    out.beside.push_back(data);
  } else {
    out.missing = data;
  }
  return out;
}

CheckpointParts with_roles(Disk& disk, const std::string& folder, CheckpointParts out) {
  const std::string name(basename(folder)), root = folder_of(folder_of(folder));
  const std::string actor = cat(kActor, "/", name), critic = cat(kCritic, "/", name);
  const bool is_actor = basename(folder_of(folder)) == kActor;
  if (!any_in(disk, cat(root, "/", is_actor ? kCritic : kActor), "global_step")) return out;
  out.root = root;
  out.own = actor;
  out.path = cat(root, "/", actor);
  for (const std::string& role : {actor, critic}) {
    if (!is_there(disk, cat(root, "/", role))) out.missing = role;
  }
  if (out.missing != critic) out.beside.push_back(critic);
  return out;
}

}  // namespace

std::string other_role_of(const std::string& root) {
  const std::string_view name = basename(root);
  if (name != kActor && name != kCritic) return "";
  return cat(folder_of(root), "/", name == kActor ? kCritic : kActor);
}

void add_other_roles(std::vector<std::string>& declared) {
  for (size_t i = 0; i < declared.size(); ++i) {
    std::string other = other_role_of(declared[i]);
    const bool known = other.empty() || std::find(declared.begin(), declared.end(), other) != declared.end();
    if (!known) declared.push_back(std::move(other));
  }
}

bool is_left_behind(const std::string& root, int64_t later_saves) {
  constexpr int64_t kWentOn = 3;
  return basename(root) == kCritic && later_saves > kWentOn;
}

bool is_left_behind(const std::string& root, const std::vector<int64_t>& own, const std::vector<int64_t>& others) {
  if (own.empty()) return false;
  return is_left_behind(root, std::distance(std::upper_bound(others.begin(), others.end(), own.back()), others.end()));
}

std::vector<std::string> role_folders(const std::string& folder) {
  return {cat(folder, "/", kActor), cat(folder, "/", kCritic)};
}

CheckpointParts parts_of(Disk& disk, const std::string& folder) {
  CheckpointParts out;
  out.path = folder;
  const std::string above = folder_of(folder);
  const std::string_view name = basename(folder), role = basename(above);
  if (name.starts_with("iter_")) return with_data(disk, folder, std::move(out));
  if (name.starts_with("global_step") && (role == kActor || role == kCritic))
    return with_roles(disk, folder, std::move(out));
  return out;
}

}  // namespace mw
