#include "app/store_mark.h"

#include "base/checksum.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "read/recorder.h"

namespace mw {
namespace {

constexpr std::string_view kFolder = "stores";  // in the user's own home: a file each, named by the place

std::string mark_of(const std::string& place) { return cat(home_of(""), "/", kFolder, "/", hex_of(fnv1a(place))); }

bool is_folder(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return info.ok() && info->kind == FileInfo::Kind::kFolder;
}

bool is_mount_point(Disk& disk, const std::string& path) {
  const auto own = disk.info(path), above = disk.info(folder_of(path));
  return own.ok() && above.ok() && own->device != above->device;
}

std::string gone_hint(bool folder, bool unmounted, const std::string& mark) {
  if (unmounted) return cat("Mount the share. If the run is gone for good, remove ", mark, " and begin anew.");
  return cat(folder ? "Is the right share mounted here?" : "Is it the same bucket, endpoint and region?",
             " What is gone for good begins anew with midwatch fleet init.");
}

}  // namespace

void remember_store(Disk& disk, const std::string& place, const std::string& name) {
  if (remembered_run(disk, place) == name) return;
  if (!disk.make_folders(cat(home_of(""), "/", kFolder)).ok()) return;
  (void)write_privately(disk, mark_of(place), cat(place, "\n", name, "\n")).ok();
}

std::string remembered_run(Disk& disk, const std::string& place) {
  const auto text = read_small(disk, mark_of(place));
  if (!text.ok()) return "";
  const auto lines = split(*text, '\n');
  return lines.size() >= 2 && lines[0] == place ? std::string(lines[1]) : "";
}

std::string looks_unmounted(Disk& disk, const std::string& place) {
  if (contains(place, "://") || is_folder(disk, place)) return "";
  const std::string above = folder_of(place);
  if (above.empty() || above == "/" || above == place) return "";
  if (!is_folder(disk, above)) return cat("there is no folder ", above);
  const auto names = disk.list(above);
  if (!names.ok() || !names->empty() || is_mount_point(disk, above)) return "";
  return cat(above, " is empty and no mount point");
}

Error no_run_in_store(Disk& disk, const std::string& place) {
  const std::string name = remembered_run(disk, place), unmounted = looks_unmounted(disk, place);
  const bool folder = !contains(place, "://");
  if (!name.empty()) {
    return {Error::Code::kInvalid,
            cat("the run ", name, " was seen at ", place, " before, and is not there now",
                unmounted.empty() ? "" : cat(": ", unmounted)),
            gone_hint(folder, !unmounted.empty(), mark_of(place))};
  }
  if (!unmounted.empty()) {
    return {Error::Code::kInvalid, cat("the store knows no run at ", place, ": ", unmounted),
            "If a share belongs there, mount it; if the run is new, run midwatch fleet init."};
  }
  return {Error::Code::kInvalid, cat("the store knows no run at ", place),
          folder ? "Run midwatch fleet init first. Is the share mounted here?" : "Run midwatch fleet init first."};
}

Result<void> must_be_there(Disk& disk, const std::string& place) {
  if (contains(place, "://")) return {};
  const auto info = disk.info(place);
  if (info.ok() && info->kind == FileInfo::Kind::kFolder) return {};
  if (info.ok())
    return Error{Error::Code::kInvalid, cat(place, " is no folder"), "A store is s3://BUCKET/RUN, or a folder."};
  if (info.error().code != Error::Code::kNotFound) return info.error();
  const std::string unmounted = looks_unmounted(disk, place);
  return Error{
      Error::Code::kNotFound, cat("there is no folder ", place),
      unmounted.empty() || contains(unmounted, "there is no folder")
          ? "Is it the right path, and is the share mounted here? The first midwatch checkpoint push makes it."
          : cat("Is the share mounted? ", unmounted, ". The first midwatch checkpoint push makes the folder.")};
}

}  // namespace mw
