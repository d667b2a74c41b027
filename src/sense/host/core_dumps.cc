// Core dumps: where the run's processes work, and where the kernel is configured to put them. One of a training process
// holds all of its host memory, so a few of them fill a disk.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "platform/background_call.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

constexpr Duration kEvery = Duration::seconds(30);
constexpr size_t kFolders = 64;             // remembered, also of processes that have ended
constexpr size_t kProcessesAsked = 256;     // for the folder that they work in
constexpr size_t kDumps = 64;               // reported
constexpr int64_t kLeastBytes = 1'000'000;  // a smaller one does no harm
constexpr std::string_view kPattern = "/proc/sys/kernel/core_pattern", kSystemd = "/var/lib/systemd/coredump";

struct Found {
  std::set<std::string> folders;
  std::map<std::string, int64_t> dumps;  ///< bytes by path
};

/// An ELF file of type ET_CORE (elf(5)): the number 4 at byte 16, in the file's own byte order.
bool is_core(System& system, const std::string& path) {
  const auto head = system.read(path, 18);
  if (!head.ok() || head->size() < 18 ||
      head->substr(0, 4) !=
          "\x7f"
          "ELF")
    return false;
  return ((*head)[16] == 4 && (*head)[17] == 0) || ((*head)[16] == 0 && (*head)[17] == 4);
}

void look_into(System& system, const std::string& folder, Time since, Found& found) {
  const auto names = system.names(folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.rfind("core", 0) != 0 && !contains(name, ".core") && !contains(name, "core.")) continue;
    const std::string path = cat(folder == "/" ? "" : folder, "/", name);
    const auto entry = system.entry(path);
    if (!entry.ok() || !entry->file || entry->bytes < kLeastBytes || entry->changed_ns < since.ns) continue;
    // systemd packs them, so that only their place and name show it.
    if (folder != kSystemd && !is_core(system, path)) continue;
    if (found.dumps.size() < kDumps) found.dumps[path] = entry->bytes;
  }
}

class CoreDumps final : public Part {
 public:
  CoreDumps(std::shared_ptr<System> system, const Seen& seen, Time since)
      : system_(std::move(system)), seen_(seen), since_(since) {}
  std::string_view name() const override { return "core-dumps"; }

  void begin(const Aim& aim, Duration now) override {
    if (call_.started() || (looked_.ns > 0 && now.ns - looked_.ns < kEvery.ns)) return;
    looked_ = now;
    std::vector<std::string> places = aim.folders;
    for (size_t i = 0; i < seen_.pids.size() && i < kProcessesAsked; ++i) {
      places.push_back(cat("/proc/", seen_.pids[i], "/cwd"));
    }
    if (const auto pattern = system_->read(std::string(kPattern), 512); pattern.ok()) {
      const size_t slash = pattern->rfind('/');
      if (pattern->front() == '/' && slash > 0) places.push_back(pattern->substr(0, slash));
      if (contains(*pattern, "systemd-coredump")) places.emplace_back(kSystemd);
    }
    call_.start([system = system_, places = std::move(places), known = folders_, since = since_] {
      Found found;
      found.folders = known;
      for (const std::string& place : places) {
        const auto real = system->real(place);
        if (real.ok() && found.folders.size() < kFolders) found.folders.insert(*real);
      }
      for (const std::string& folder : found.folders) look_into(*system, folder, since, found);
      return found;
    });
  }

  /// Nobody waits for it: what is found is reported in the next round.
  bool collect(Notes& notes, Duration) override {
    auto found = call_.take();
    if (!found) return true;
    for (const auto& [path, bytes] : reported_) {
      if (found->dumps.count(path) == 0) notes.figure("process.core_dump", path, 0);  // somebody removed it
    }
    for (const auto& [path, bytes] : found->dumps) notes.figure("process.core_dump", path, static_cast<double>(bytes));
    folders_ = std::move(found->folders);
    reported_ = std::move(found->dumps);
    return true;
  }

  bool busy() const override { return call_.busy(); }

 private:
  std::shared_ptr<System> system_;
  const Seen& seen_;
  Time since_;
  Duration looked_;
  BackgroundCall<Found> call_;
  std::set<std::string> folders_;
  std::map<std::string, int64_t> reported_;
};

}  // namespace

std::unique_ptr<Part> make_core_dumps(std::shared_ptr<System> system, const Seen& seen, Time since) {
  return std::make_unique<CoreDumps>(std::move(system), seen, since);
}

}  // namespace mw::host
