#include "act/supervise/keeper_sessions.h"

#include "act/keeper/launch.h"
#include "act/supervise/run_files.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr int kMost = 100'000;  // keepers of one kind whose records are read
constexpr std::string_view kComponents = "components";

void read_all(Disk& disk, const std::string& run_folder, const std::string& kind, std::vector<KeeperSession>& found) {
  for (int number = 1; number < kMost; ++number) {
    const std::string place = cat(kind, "/", number), folder = cat(run_folder, "/", place);
    if (!disk.info(folder).ok()) return;
    KeeperSession one;
    one.place = place;
    auto kept = read_kept(disk, folder);
    if (kept.ok()) {
      one.kept = std::move(*kept);
      one.over = one.kept.done || !one.kept.failure.empty();
    }
    found.push_back(std::move(one));
  }
}

}  // namespace

std::vector<KeeperSession> keeper_sessions(Disk& disk, const std::string& run_folder) {
  std::vector<KeeperSession> found;
  read_all(disk, run_folder, std::string(kAttemptsFolder), found);
  const auto names = disk.list(cat(run_folder, "/", kComponents));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    read_all(disk, run_folder, cat(kComponents, "/", name), found);
  }
  return found;
}

}  // namespace mw
