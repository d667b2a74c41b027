#include "act/cleanup/quarantine_room.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/walk_files.h"

namespace mw {
namespace {

constexpr size_t kFiles = 10'000;  // of one move
constexpr int kDepth = 8;
constexpr int64_t kShare = 4;  // less than this part of what is wanted is not worth the words

int64_t bytes_below(Disk& disk, const std::string& folder) {
  int64_t bytes = 0;
  FileWalk walk{kFiles, kDepth};
  walk.file = [&bytes](const std::string& path, const FileInfo& info) {
    if (path != kManifestFile) bytes += info.size;
    return Result<void>();
  };
  (void)walk_files(disk, folder, walk).ok();
  return bytes;
}

QuarantineRoom room_of(Disk& disk, const std::string& folder) {
  QuarantineRoom room;
  room.folder = folder;
  const auto labels = disk.list(folder);
  for (const std::string& label : labels.ok() ? *labels : std::vector<std::string>()) {
    const auto manifest = find_manifest(disk, cat(folder, "/", label), "");
    if (!manifest.ok() || manifest->run_folder.empty()) continue;
    const int64_t bytes = bytes_below(disk, cat(folder, "/", label));
    if (bytes > 0) room.runs.insert(std::string(basename(manifest->run_folder)));
    room.bytes += bytes;
  }
  return room;
}

}  // namespace

std::vector<QuarantineRoom> quarantine_room(Disk& disk, const std::vector<std::string>& roots,
                                            const std::string& place) {
  std::vector<QuarantineRoom> out;
  std::set<std::string> known;
  const auto there = disk.info(place);
  for (const std::string& root : roots) {
    for (const OwnFolder& one : quarantine_places(root)) {
      const std::string folder = one.path();
      const auto info = disk.info(folder);
      if (!there.ok() || !info.ok() || info->device != there->device || !known.insert(folder).second) continue;
      QuarantineRoom room = room_of(disk, folder);
      if (room.bytes > 0) out.push_back(std::move(room));
    }
  }
  return out;
}

std::string quarantine_words(const std::vector<QuarantineRoom>& rooms, int64_t wanted) {
  int64_t bytes = 0;
  std::string folders, commands;
  std::set<std::string> runs;
  for (const QuarantineRoom& room : rooms) {
    bytes += room.bytes;
    folders +=
        cat(folders.empty() ? "" : " and ", room.folder, " (", format_bytes(static_cast<double>(room.bytes)), ")");
    runs.insert(room.runs.begin(), room.runs.end());
  }
  if (bytes <= 0 || bytes * kShare < wanted) return "";
  for (const std::string& run : runs)
    commands += cat(commands.empty() ? "" : " and ", "midwatch cleanup --run ", run, " --what quarantine");
  return cat("what midwatch quarantined takes room there, ", folders, ": ", commands,
             runs.size() > 1 ? " free" : " frees", " it");
}

}  // namespace mw
