#include "app/start_roles.h"

#include <algorithm>

#include "act/vault/place_parts.h"
#include "app/begin_run.h"
#include "app/ship_beside.h"
#include "app/start_fence.h"
#include "app/start_shipped.h"
#include "base/text.h"
#include "platform/clock.h"
#include "platform/durable.h"
#include "platform/object_store.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

std::string role_folder(const vault::CheckpointManifest& manifest, const std::string& root) {
  if (!contains(manifest.own, "/")) return root;
  const std::string own = folder_of(manifest.own);
  if (root.ends_with("/" + own)) return root;
  for (const std::string& part : manifest.beside) {
    const std::string other = contains(part, "/") ? folder_of(part) : "";
    if (!other.empty() && root.ends_with("/" + other)) return root.substr(0, root.size() - other.size()) + own;
  }
  return cat(root, "/", own);
}

std::string folder_below(const vault::CheckpointManifest& manifest, const std::string& root,
                         const std::vector<std::string>& outputs) {
  const std::string below = fact(manifest.run, kBelowFact);
  if (below == "." || (!below.empty() && !is_plain_path(below))) return root;
  if (below.empty()) {
    std::string only = root;
    for (const std::string& one : outputs) {
      if (one == root || (only != root && one != only && lies_in(one, root))) return root;
      if (lies_in(one, root)) only = one;
    }
    return only;
  }
  // What is declared now may lie deeper than what was: "ck/project" for "project/experiment" below "ck".
  for (size_t end = below.size(); end != std::string::npos && end > 0; end = below.rfind('/', end - 1)) {
    if (root.ends_with(cat("/", below.substr(0, end)))) return cat(root, below.substr(end));
  }
  return cat(root, "/", below);
}

std::string trial_holder(const vault::CheckpointManifest& manifest, const std::string& root) {
  const bool slot = std::any_of(manifest.files.begin(), manifest.files.end(), [](const vault::ManifestFile& file) {
    return file.path == "recover_info/step_info.json";
  });
  if (!slot || manifest.name.empty()) return root;
  const size_t at = cat(root, "/").rfind(cat("/", manifest.name, "/"));
  return at == std::string::npos || at == 0 ? root : root.substr(0, at);
}

Result<void> make_way_for_parts(Disk& disk, const StartRequest& request, const LocalScope& local,
                                const vault::CheckpointManifest& manifest, StartAnswer& answer) {
  if (manifest.own.empty() || !request.may_move) return {};
  const auto root = vault::root_for_parts(manifest, cat(answer.root, "/", manifest.name));
  if (!root.ok()) return root.error();
  const vault::CheckpointManifest beside = vault::beside_of(manifest);
  for (const std::string& part : manifest.beside) {
    const auto placed = vault::is_placed(disk, beside, *root, part);
    if (placed.ok() || placed.error().code != Error::Code::kDenied) continue;  // pull() says what is wrong
    const std::string place = cat(*root, "/", part), why = "It was not what belongs to the checkpoint that came.";
    const auto info = disk.info(place);
    if (!info.ok()) continue;
    if (info->kind == FileInfo::Kind::kFile) {
      const std::string other = cat(place, ".replaced-", answer.name);
      MW_TRY(disk.rename(place, other));
      answer.moved.push_back(cat(place, " was not what belongs to step ", manifest.step, ": it is ", other, " now"));
      answer.pulled.notes.push_back(answer.moved.back());
      continue;
    }
    LocalScope scope = local;
    scope.root = real_path_to_be(disk, folder_of(place));
    const auto step = step_in(scope.layout.folder, basename(place));
    if (!step) continue;
    const auto moved = move_broken(disk, scope, run_folder_of(request.home, answer.name), make_posix_clock()->now(),
                                   {*step}, kNoStep, why);
    if (!moved.ok()) return moved.error();
    answer.moved.push_back(cat(place, " was not what belongs to step ", manifest.step, ": moved to ", *moved));
    answer.pulled.notes.push_back(cat(answer.moved.back(), "; midwatch restore --run ", answer.name, " puts it back"));
  }
  return {};
}

Result<void> point_other_roles(Disk& disk, const CheckpointLayout& layout, const PullAnswer& pulled,
                               const std::string& text) {
  for (const std::string& part : pulled.beside) {
    if (basename(part) != pulled.name) continue;
    MW_TRY(write_durably(disk, cat(folder_of(part), "/", layout.pointer), text));
  }
  return {};
}

}  // namespace mw
