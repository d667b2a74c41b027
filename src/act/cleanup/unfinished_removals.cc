#include "act/cleanup/unfinished_removals.h"

#include "act/cleanup/remove_item.h"
#include "base/text.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

/// A folder in which things lie until all of them is gone, and the one that they come from.
struct RemovalPlace {
  OwnFolder folder;
  std::string from;
};

std::vector<RemovalPlace> removal_places(const std::string& root) {
  std::vector<RemovalPlace> places = {{own_folder_in(root, kRemovingFolder), root}};
  if (auto beside = own_folder_beside(root, kRemovingFolder)) places.push_back({std::move(*beside), root});
  for (const OwnFolder& quarantine : quarantine_places(root)) {
    OwnFolder folder = quarantine;
    folder.name = cat(quarantine.name, "/", kRemovingFolder);
    places.push_back({std::move(folder), quarantine.path()});
  }
  return places;
}

}  // namespace

UnfinishedRemovals unfinished_removals(Disk& disk, const std::string& root, const std::set<std::string>& removals,
                                       const std::string& word) {
  UnfinishedRemovals out;
  for (const RemovalPlace& place : removal_places(root)) {
    const auto names = disk.list(place.folder.path());
    out.unsure = out.unsure || (!names.ok() && names.error().code != Error::Code::kNotFound);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      const std::string path = cat(place.folder.path(), "/", name);
      const auto info = disk.info(path);
      out.unsure = out.unsure || (!info.ok() && info.error().code != Error::Code::kNotFound);
      const std::string before = cat(place.from, "/", removing_of(name).name);
      if (!info.ok() || removals.count(before) == 0) continue;
      CleanupItem item{word,
                       place.folder.base,
                       cat(place.folder.name, "/", name),
                       scan_checkpoint(disk, path, kNoStep, nullptr).seen.bytes,
                       cat("what is left of ", before, ", whose removal was cut short"),
                       identity_of(*info)};
      item.unfinished = true;
      item.before = before;
      out.items.push_back(std::move(item));
    }
  }
  return out;
}

}  // namespace mw
