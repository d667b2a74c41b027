// Memory of the machine and of the run's cgroup, and what the kernel killed for the lack of it.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

constexpr std::string_view kUnified = "/sys/fs/cgroup", kLegacy = "/sys/fs/cgroup/memory";
constexpr int64_t kNoLimit = int64_t{1} << 60;  // v1 says "no limit" as a number near 2^63
constexpr int kRounds = 3;   // of reporting, within which a killed process is gone, however large it was
constexpr int kLevels = 32;  // of cgroups within each other that are looked at

/// Where one version of the interface keeps things.
struct Files {
  std::string_view limit, used, statistic, droppable, events;
};
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst
constexpr Files kV2{"memory.max", "memory.current", "memory.stat", "inactive_file", "memory.events"};
constexpr Files kV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_inactive_file",
                    "memory.oom_control"};

class Memory final : public Part {
 public:
  Memory(System& system, const Seen& seen) : system_(system), seen_(seen) {}
  std::string_view name() const override { return "memory"; }

  void begin(const Aim& aim, Duration) override { find_group(aim.root); }

  bool collect(Notes& notes, Duration) override {
    machine(notes);
    group(notes);
    kills(notes);
    return true;
  }

 private:
  void machine(Notes& notes) {
    const auto info = system_.read("/proc/meminfo", 8192);
    if (!info.ok()) return;
    const int64_t free = value_of(*info, "MemAvailable"), size = value_of(*info, "MemTotal");
    if (free >= 0) notes.figure("host.memory.free", "machine", static_cast<double>(free));
    if (size > 0) notes.figure("host.memory.size", "machine", static_cast<double>(size));
  }

  /// A process may be moved at any time. In a container, which may see only its own group as the top, it is the deepest
  /// that can be seen.
  void find_group(int64_t root) {
    const std::string pid = root > 0 ? cat(root) : "self";
    const auto text = system_.read(cat("/proc/", pid, "/cgroup"), 16384);
    const bool legacy = text.ok() && !cgroup_of(*text, "memory").empty();
    files_ = legacy ? &kV1 : &kV2;
    base_ = std::string(legacy ? kLegacy : kUnified);
    std::string path = text.ok() ? cgroup_of(*text, legacy ? "memory" : "") : "";
    if (path == "/") path.clear();
    int climbed = 0;
    for (; !path.empty() && !system_.read(cat(base_, path, "/", files_->used), 64).ok(); ++climbed) path = parent(path);
    exact_ = climbed == 0;
    if (group_ != base_ + path) kills_ = -1;
    group_ = base_ + path;
  }

  static std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

  int64_t number(const std::string& path) {
    const auto text = system_.read(path, 64);
    return text.ok() ? parse_int(trim(*text)).value_or(-1) : -1;
  }

  /// Limits hold for all below them: the level with the least left is the one that counts.
  void group(Notes& notes) {
    int64_t least = -1, limit = 0;
    std::string level = group_;
    for (int i = 0; i < kLevels && level.size() >= base_.size(); ++i, level = parent(level)) {
      const int64_t most = number(cat(level, "/", files_->limit)), used = number(cat(level, "/", files_->used));
      if (most <= 0 || most >= kNoLimit || used < 0) continue;
      const auto statistic = system_.read(cat(level, "/", files_->statistic), 16384);
      const int64_t droppable = statistic.ok() ? std::max<int64_t>(0, value_of(*statistic, files_->droppable)) : 0;
      const int64_t left = std::max<int64_t>(0, most - std::max<int64_t>(0, used - droppable));
      if (least >= 0 && left >= least) continue;
      least = left;
      limit = most;
    }
    if (least < 0) return;
    notes.figure("cgroup.memory.free", "run", static_cast<double>(least));
    notes.figure("cgroup.memory.size", "run", static_cast<double>(limit));
  }

  void kills(Notes& notes) {
    const auto events = system_.read(cat(group_, "/", files_->events), 4096);
    int64_t now = events.ok() ? value_of(*events, "oom_kill") : -1;
    const bool of_group = now >= 0;
    if (!of_group) {
      const auto machine = system_.read("/proc/vmstat", size_t{64} << 10);  // since Linux 4.13
      now = machine.ok() ? value_of(*machine, "oom_kill") : -1;
    }
    if (now < 0) return;
    notes.figure("host.oom_kills", of_group ? "run" : "machine", static_cast<double>(now));
    if (kills_ >= 0 && of_group == of_group_ && now > kills_) {
      pending_ += now - kills_;
      rounds_ = kRounds;
    }
    kills_ = now;
    of_group_ = of_group;
    if (pending_ <= 0) return;
    // The run's own group speaks for itself: its short-lived workers are never seen. Others share the machine and the
    // groups above: then it is ours when the largest of ours is gone, as the kernel picks the largest; unless its log
    // can be read, which says whom it killed.
    const bool largest_gone =
        std::any_of(seen_.gone.begin(), seen_.gone.end(), [](const Gone& gone) { return gone.largest; });
    const bool ours = (of_group && exact_) || (largest_gone && !seen_.kernel_log);
    const int64_t more = pending_;
    if (!ours && --rounds_ > 0) return;  // it may still be giving back its memory
    pending_ = 0;
    if (!ours) return;
    std::string victim;
    if (!seen_.gone.empty()) {
      const Gone& largest = *std::max_element(seen_.gone.begin(), seen_.gone.end(),
                                              [](const Gone& a, const Gone& b) { return a.bytes < b.bytes; });
      victim = cat("; gone since the last check: ", largest.name, " (pid ", largest.pid, "), which held ",
                   format_bytes(largest.bytes));
    }
    notes.happened(of_group ? "cgroup-oom-kill" : "oom-killer-host",
                   cat("the kernel killed ", more, more == 1 ? " process" : " processes", " for memory, by the ",
                       of_group ? "cgroup's" : "machine's", " own count", victim));
  }

  System& system_;
  const Seen& seen_;
  int64_t kills_ = -1, pending_ = 0;
  int rounds_ = 0;
  bool of_group_ = false, exact_ = false;
  const Files* files_ = &kV2;
  std::string base_, group_;
};

}  // namespace

std::unique_ptr<Part> make_memory(System& system, const Seen& seen) { return std::make_unique<Memory>(system, seen); }

}  // namespace mw::host
