#include "act/vault/catalogue.h"

#include <algorithm>
#include <map>

#include "act/vault/crew.h"
#include "base/digest.h"
#include "base/text.h"

namespace mw::vault {

bool is_current(const Pointer& pointer, const CheckpointManifest& manifest) {
  if (pointer.step == kNoStep || manifest.id == pointer.checkpoint) return true;
  return manifest.epoch > pointer.back_in || manifest.step <= pointer.step;
}

Result<std::vector<std::string>> manifest_ids(ObjectStore& store, const Keys& keys) {
  const auto listed = list_all(store, keys.manifests());
  if (!listed.ok()) return listed.error();
  std::vector<std::string> ids;
  constexpr std::string_view kEnd = ".json";
  for (const ObjectInfo& one : *listed) {
    std::string_view name = std::string_view(one.key).substr(keys.manifests().size());
    if (!name.ends_with(kEnd)) continue;
    name.remove_suffix(kEnd.size());
    if (step_of_id(name)) ids.emplace_back(name);
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [](const auto& a, const auto& b) { return *step_of_id(a) > *step_of_id(b); });
  return ids;
}

Result<std::string> files_are_there(ObjectStore& store, const Keys& keys, const CheckpointManifest& manifest) {
  // A listing costs one request for a thousand files.
  const std::string prefix = keys.files(manifest.id);
  const auto listed = list_all(store, prefix);
  if (!listed.ok()) return listed.error();
  std::map<std::string_view, int64_t> sizes;
  for (const ObjectInfo& one : *listed) sizes[std::string_view(one.key).substr(prefix.size())] = one.size;
  for (const ManifestFile& file : manifest.files) {
    const auto found = sizes.find(file.path);
    if (found == sizes.end() || found->second != file.size) return file.path;
  }
  return std::string();
}

Result<int64_t> highest_epoch(ObjectStore& store, const Keys& keys) {
  const auto ids = manifest_ids(store, keys);
  if (!ids.ok()) return ids.error();
  int64_t highest = 0;
  for (const std::string& id : *ids) {
    const auto text = get_small(store, keys.manifest(id), kManifestBytes);
    if (!text.ok() && text.error().code != Error::Code::kNotFound) return text.error();
    const auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
    if (manifest.ok()) highest = std::max(highest, manifest->epoch);
  }
  return highest;
}

Result<Catalogue> read_catalogue(const VaultDoors& doors, const Keys& keys, bool check) {
  Catalogue out;
  std::string trouble;
  LatestPointer latest(doors, keys, "");
  auto pointer = latest.read(&trouble);
  if (!pointer.ok()) return pointer.error();
  out.pointer = std::move(*pointer);
  if (!trouble.empty()) out.notes.push_back(trouble);
  const auto ids = manifest_ids(doors.store, keys);
  if (!ids.ok()) return ids.error();
  bool named = out.pointer.step == kNoStep;
  for (const std::string& id : *ids) {
    RemoteCheckpoint one;
    const auto text = get_small(doors.store, keys.manifest(id), kManifestBytes);
    if (!text.ok() && text.error().code == Error::Code::kNotFound) continue;
    if (!text.ok() && text.error().code != Error::Code::kLimit) return text.error();
    auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
    if (manifest.ok() && manifest->id == id) {
      one.manifest = std::move(*manifest);
      one.hash = content_hash(*text);
      if (check) {
        const auto missing = files_are_there(doors.store, keys, one.manifest);
        if (!missing.ok()) return missing.error();
        if (!missing->empty()) one.trouble = cat(*missing, " is missing or has another size");
      }
      one.given_up = one.trouble.empty() && !is_current(out.pointer, one.manifest);
      if (one.given_up) one.trouble = "latest was moved to an earlier step since";
    } else {
      one.trouble = manifest.ok() ? "its manifest is another one's" : manifest.error().what;
      one.manifest.id = id;
      one.manifest.step = *step_of_id(id);
    }
    for (ManifestFile& file : one.manifest.files) file.parts = {};
    one.latest = id == out.pointer.checkpoint;
    if (one.latest && !one.hash.empty() && one.hash != out.pointer.manifest_hash) {
      out.notes.push_back("The manifest of latest is not the one that it was set to.");
    }
    named = named || one.latest;
    out.checkpoints.push_back(std::move(one));
  }
  if (!named) out.notes.push_back(cat("latest names ", out.pointer.checkpoint, ", which is not there."));
  return out;
}

const RemoteCheckpoint* newest_usable(const Catalogue& catalogue) {
  for (const RemoteCheckpoint& one : catalogue.checkpoints) {
    if (one.trouble.empty()) return &one;
  }
  return nullptr;
}

}  // namespace mw::vault
