#include "act/vault/place_parts.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace mw::vault {
namespace {

constexpr size_t kRead = size_t{4} << 20;

Result<bool> has_these_bytes(Disk& disk, const std::string& path, const ManifestFile& file) {
  const auto info = disk.info(path);
  if (!info.ok() && info.error().code == Error::Code::kNotFound) return false;
  if (!info.ok()) return info.error();
  if (info->kind != FileInfo::Kind::kFile || info->size != file.size) return false;
  const auto open = disk.open_read(path);
  if (!open.ok()) return open.error();
  ContentHash hash;
  std::string bytes;
  for (uint64_t at = 0; at < static_cast<uint64_t>(file.size); at += bytes.size()) {
    MW_TRY((*open)->read_at(at, kRead, bytes));
    if (bytes.empty()) return false;
    hash.add(bytes);
  }
  return hash.hex() == file.hash;
}

}  // namespace

bool belongs_to(const ManifestFile& file, const std::string& part) {
  return file.path == part || file.path.starts_with(part + "/");
}

CheckpointManifest own_of(const CheckpointManifest& manifest) {
  CheckpointManifest out = manifest;
  std::erase_if(out.files, [](const ManifestFile& file) { return is_beside(file); });
  return out;
}

CheckpointManifest beside_of(const CheckpointManifest& manifest) {
  CheckpointManifest out = manifest;
  std::erase_if(out.files, [](const ManifestFile& file) { return !is_beside(file); });
  for (ManifestFile& file : out.files) file.path.erase(0, kBeside.size());
  return out;
}

Result<std::string> root_for_parts(const CheckpointManifest& manifest, const std::string& folder) {
  if (folder.ends_with("/" + manifest.own)) return folder.substr(0, folder.size() - manifest.own.size() - 1);
  std::string parts;
  for (const std::string& part : manifest.beside) parts += cat(parts.empty() ? "" : ", ", part);
  return Error{
      Error::Code::kDenied,
      cat("step ", manifest.step, " is ", manifest.own, " with ", parts, ", and each of them comes into its own place"),
      cat("Name a folder that ends so: ", folder, "/", manifest.own, ".")};
}

Result<bool> is_placed(Disk& disk, const CheckpointManifest& beside, const std::string& root, const std::string& part) {
  const std::string place = cat(root, "/", part);
  const auto info = disk.info(place);
  if (!info.ok() && info.error().code == Error::Code::kNotFound && !disk.read_link(place).ok()) return false;
  if (!info.ok()) return info.error();
  if (const auto names = disk.list(place); names.ok() && names->empty()) return false;
  for (const ManifestFile& file : beside.files) {
    if (!belongs_to(file, part)) continue;
    const auto same = has_these_bytes(disk, cat(root, "/", file.path), file);
    if (!same.ok()) return same.error();
    if (*same) continue;
    return Error{Error::Code::kDenied,
                 cat(place, " is there and not what belongs to step ", beside.step, " (", file.path, " differs)"),
                 cat("Nothing is written over. Move it away: mv ", place, " ", place, ".aside")};
  }
  return true;
}

Result<void> place_parts(Disk& disk, const CheckpointManifest& beside, const std::string& from,
                         const std::string& root) {
  for (const std::string& part : beside.beside) {
    const auto placed = is_placed(disk, beside, root, part);
    if (!placed.ok()) return placed.error();
    if (*placed) continue;
    MW_TRY(disk.make_folders(folder_of(cat(root, "/", part))));
    const auto renamed = disk.rename(cat(from, "/", part), cat(root, "/", part));
    if (renamed.ok()) continue;
    const auto others = is_placed(disk, beside, root, part);  // another receiver of the same was faster
    if (!others.ok() || !*others) return renamed;
  }
  return {};
}

}  // namespace mw::vault
