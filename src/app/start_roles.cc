#include "app/start_roles.h"

#include "act/vault/place_parts.h"
#include "app/begin_run.h"
#include "app/start_fence.h"
#include "base/text.h"
#include "platform/clock.h"
#include "platform/durable.h"

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
      answer.pulled.notes.push_back(
          cat(place, " was not what belongs to step ", manifest.step, ": it is ", other, " now"));
      continue;
    }
    LocalScope scope = local;
    scope.root = real_path_to_be(disk, folder_of(place));
    const auto step = step_in(scope.layout.folder, basename(place));
    if (!step) continue;
    const auto moved = move_broken(disk, scope, run_folder_of(request.home, answer.name), make_posix_clock()->now(),
                                   {*step}, kNoStep, why);
    if (!moved.ok()) return moved.error();
    answer.pulled.notes.push_back(cat(place, " was not what belongs to step ", manifest.step, ": moved to ", *moved,
                                      "; midwatch restore --run ", answer.name, " puts it back"));
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
