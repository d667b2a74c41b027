// A folder of checkpoints on the real disk, and what moves checkpoints out of the way there, for tests.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

inline const CheckpointLayout kVerl{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};

struct QuarantineFolder {
  std::unique_ptr<Disk> disk = make_posix_disk();
  std::string root;
  QuarantineFolder() {
    char name[] = "/tmp/midwatch-aside-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root = name;
  }
  ~QuarantineFolder() { (void)system(cat("rm -rf ", root).c_str()); }
  void put(const std::string& path, std::string_view text) {
    auto file = disk->open_append(cat(root, "/", path));
    REQUIRE(file.ok());
    REQUIRE((*file)->append(text).ok());
  }
  void checkpoint(const std::string& name) {
    REQUIRE(disk->make_folders(cat(root, "/", name)).ok());
    put(name + "/model", name);
  }
  std::string content(const std::string& path) {
    auto file = disk->open_read(cat(root, "/", path));
    std::string text;
    return file.ok() && (*file)->read_at(0, 1000, text).ok() ? text : "-";
  }
};

/// The checkpoints of these steps, with the pointer set to `keep`.
inline QuarantinePlan plan_of(QuarantineFolder& f, const std::vector<int64_t>& steps, int64_t keep,
                              const CheckpointLayout& layout = kVerl) {
  QuarantinePlan plan{f.root, "attempt-1-of-a", {}, keep, true};
  for (const int64_t step : steps) {
    const auto info = f.disk->info(cat(f.root, "/", with_step(layout.folder, step)));
    plan.items.push_back({step, info.ok() ? Snapshot::Thing{info->device, info->inode} : Snapshot::Thing()});
  }
  return plan;
}

inline QuarantineManifest of_run(const std::string& run_folder) {
  QuarantineManifest of;
  of.run_folder = run_folder;
  of.attempt = 1;
  of.why = "They were saved after the data had turned to poison.";
  return of;
}

}  // namespace mw
