// The run's processes: what they use, whether they are stuck, and the machine's processors.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/process.h"
#include "read/books/engine_book.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

constexpr size_t kProcesses = 4096;     // of the run; further ones are not looked at
constexpr size_t kNames = 256;          // of processes, remembered when they are gone
constexpr size_t kNamed = 32;           // processes with a figure of their own at a time
constexpr double kFilesReported = 0.7;  // share of its file limit from which on a process has a figure of its own
constexpr Duration kFilesEvery = Duration::seconds(30);
constexpr double kBlockedReported = 30;  // seconds in state D, likewise
constexpr double kDeadReported = 15;     // seconds that an engine is dead and nobody has reaped it
constexpr size_t kSomeFiles = 256;       // open files of a process: with fewer its limit is not read
constexpr size_t kUserField = 14, kSystemField = 15, kThreadsField = 20, kRssField = 24;  // of /proc/PID/stat, proc(5)

struct Figures {
  ProcessInfo info;
  int64_t ticks = 0, threads = 0;
  double bytes = 0;
};

struct Known {
  Figures figures;
  Duration blocked_since, dead_since;  ///< 0: not
  Duration heard;                      ///< by now
  bool reported_dead = false;
};

int64_t field_of(std::string_view stat, size_t number) {
  const size_t shut = stat.rfind(") ");
  if (shut == std::string_view::npos) return 0;
  const auto fields = split(trim(stat.substr(shut + 2)), ' ');  // the first is field 3
  if (number < 3 || number - 3 >= fields.size()) return 0;
  return parse_int(fields[number - 3]).value_or(0);
}

class Processes final : public Part {
 public:
  Processes(System& system, Seen& seen) : system_(system), seen_(seen) {}
  std::string_view name() const override { return "processes"; }

  void begin(const Aim& aim, Duration now) override {
    period_ = Duration{now.ns - looked_.ns};
    looked_ = now;
    look_at_machine();
    found_.clear();
    seen_.gone.clear();
    seen_.pids.clear();
    if (aim.root > 0) snapshot_run(aim.root);
    compare(now);
  }

  bool collect(Notes& notes, Duration now) override {
    if (machine_ >= 0) notes.figure("host.cpu", "machine", machine_);
    if (found_.empty()) return true;
    double bytes = 0;
    int64_t threads = 0;
    for (const Figures& one : found_) {
      bytes += one.bytes;
      threads += one.threads;
    }
    notes.figure("process.count", "run", static_cast<double>(found_.size()));
    notes.figure("process.threads", "run", static_cast<double>(threads));
    notes.figure("process.memory", "run", bytes);
    if (cores_ >= 0) notes.figure("process.cpu", "run", cores_);
    report_files(notes, now);
    report_states(notes, now);
    return true;
  }

 private:
  void look_at_machine() {
    machine_ = -1;
    const auto stat = system_.read("/proc/stat", 4096);  // "cpu  user nice system idle iowait irq softirq steal ..."
    if (!stat.ok()) return;
    const std::string_view line = std::string_view(*stat).substr(0, stat->find('\n'));
    int64_t all = 0, idle = 0;
    size_t field = 0;
    for (const std::string_view word : split(line, ' ')) {
      const auto value = parse_int(word);
      if (!value) continue;
      if (field < 8) all += *value;  // the guest's time is in the user's already
      if (field == 3 || field == 4) idle += *value;
      ++field;
    }
    if (all_ > 0 && all > all_) {
      machine_ = std::clamp(1 - static_cast<double>(idle - idle_) / static_cast<double>(all - all_), 0.0, 1.0);
    }
    all_ = all;
    idle_ = idle;
  }

  void snapshot_run(int64_t root) {
    const auto names = system_.names("/proc");
    if (!names.ok()) return;
    std::map<int64_t, Figures> all;
    std::vector<ProcessInfo> infos;
    for (const std::string& entry : *names) {
      const auto pid = parse_int(entry);
      if (!pid || *pid <= 0) continue;
      const auto stat = system_.read(cat("/proc/", *pid, "/stat"), 4096);
      if (!stat.ok()) continue;  // it has ended meanwhile
      auto info = parse_process_stat(*stat);
      if (!info.ok()) continue;
      if (info->parent == 2 || info->id.pid == 2) continue;  // the kernel's own
      Figures one;
      one.info = *info;
      one.ticks = field_of(*stat, kUserField) + field_of(*stat, kSystemField);
      one.threads = field_of(*stat, kThreadsField);
      one.bytes = static_cast<double>(field_of(*stat, kRssField)) * static_cast<double>(page_);
      infos.push_back(std::move(*info));
      all[*pid] = std::move(one);
    }
    if (const auto top = all.find(root); top != all.end()) found_.push_back(top->second);
    for (const ProcessInfo& child : descendants(infos, root)) {
      if (found_.size() < kProcesses) found_.push_back(all[child.id.pid]);
    }
    for (const Figures& one : found_) {
      seen_.pids.push_back(one.info.id.pid);
      if (seen_.names.size() < kNames) seen_.names.insert(one.info.name);
    }
  }

  /// With the last round: processor time, who is gone, who has been stuck or dead since when.
  void compare(Duration now) {
    std::map<int64_t, Known> known;
    int64_t ticks = 0;
    for (const Figures& one : found_) {
      Known mine;
      const auto before = known_.find(one.info.id.pid);
      if (before != known_.end() && before->second.figures.info.id == one.info.id) mine = before->second;
      const bool fresh = mine.figures.info.id.pid == 0;
      const int64_t used = fresh ? 0 : one.ticks - mine.figures.ticks;
      ticks += std::max<int64_t>(used, 0);
      const bool blocked = one.info.state == 'D' && used == 0, dead = one.info.state == 'Z';
      if (dead && !fresh && mine.figures.info.state != 'Z')
        seen_.gone.push_back({one.info.id.pid, one.info.name, mine.figures.bytes});
      mine.blocked_since = !blocked ? Duration{} : mine.blocked_since.ns > 0 ? mine.blocked_since : now;
      mine.dead_since = !dead ? Duration{} : mine.dead_since.ns > 0 ? mine.dead_since : now;
      mine.figures = one;
      known[one.info.id.pid] = std::move(mine);
    }
    for (const auto& [pid, one] : known_) {
      const bool here = known.count(pid) > 0 && known[pid].figures.info.id == one.figures.info.id;
      if (!here && one.figures.info.state != 'Z') seen_.gone.push_back({pid, one.figures.info.name, one.figures.bytes});
    }
    double most = 0;
    for (const auto& [pid, one] : known_) most = std::max(most, one.figures.bytes);
    for (Gone& gone : seen_.gone) gone.largest = most > 0 && gone.bytes >= most;
    cores_ = known_.empty() || period_.ns <= 0
                 ? -1
                 : static_cast<double>(ticks) / static_cast<double>(ticks_) / period_.seconds();
    known_ = std::move(known);
  }

  /// Open files against the limit, of each that comes near it. Counting them is the dearest part of a round.
  void report_files(Notes& notes, Duration now) {
    if (counted_.ns > 0 && now.ns - counted_.ns < kFilesEvery.ns) return;
    counted_ = now;
    std::map<std::string, double> near_limit;
    for (const Figures& one : found_) {
      const std::string place = cat("/proc/", one.info.id.pid);
      const auto open = system_.count(place + "/fd");
      if (!open.ok() || *open < kSomeFiles) continue;
      const auto limits = system_.read(place + "/limits", 8192);
      const double limit = limits.ok() ? soft_limit(*limits, "Max open files") : 0;
      if (limit <= 0) continue;
      const double share = std::min(1.0, static_cast<double>(*open) / limit);
      if (share >= kFilesReported) near_limit[thing_of(one)] = share;
    }
    report_named(notes, "process.files", near_limit, reported_files_);
  }

  void report_states(Notes& notes, Duration now) {
    std::map<std::string, double> blocked;
    for (auto& [pid, one] : known_) {
      const double stuck = one.blocked_since.ns > 0 ? Duration{now.ns - one.blocked_since.ns}.seconds() : 0;
      if (stuck >= kBlockedReported) blocked[thing_of(one.figures)] = stuck;
      const double dead = one.dead_since.ns > 0 ? Duration{now.ns - one.dead_since.ns}.seconds() : 0;
      if (dead < kDeadReported || one.reported_dead) continue;
      for (const Engine& engine : built_in_engines()) {
        for (const Engine::Worker& worker : engine.workers) {
          if (!one.figures.info.name.starts_with(worker.title)) continue;
          one.reported_dead = true;
          notes.happened(worker.signature, cat("process ", pid, " (", one.figures.info.name,
                                               ") of the run is dead and nobody has noticed"));
        }
      }
    }
    report_named(notes, "process.blocked", blocked, reported_blocked_);
  }

  /// What no longer has a figure is reported as 0 once, so that it is known to be over.
  static void report_named(Notes& notes, std::string_view signal, const std::map<std::string, double>& now,
                           std::set<std::string>& reported) {
    for (auto it = reported.begin(); it != reported.end();) {
      if (now.count(*it) > 0) {
        ++it;
        continue;
      }
      notes.figure(signal, *it, 0);
      it = reported.erase(it);
    }
    for (const auto& [thing, value] : now) {
      if (reported.count(thing) == 0 && reported.size() >= kNamed) continue;
      reported.insert(thing);
      notes.figure(signal, thing, value);
    }
  }

  static std::string thing_of(const Figures& one) { return cat(one.info.name, " (pid ", one.info.id.pid, ")"); }

  /// "Max open files            1024                 1048576              files"
  static double soft_limit(std::string_view limits, std::string_view what) {
    for (const std::string_view line : split(limits, '\n')) {
      if (line.substr(0, what.size()) != what) continue;
      for (const std::string_view word : split(line.substr(what.size()), ' ')) {
        if (!trim(word).empty()) return static_cast<double>(parse_int(word).value_or(0));
      }
    }
    return 0;
  }

  System& system_;
  Seen& seen_;
  Duration looked_, period_, counted_;
  int64_t all_ = 0, idle_ = 0;
  double machine_ = -1, cores_ = -1;
  std::vector<Figures> found_;
  std::map<int64_t, Known> known_;
  std::set<std::string> reported_files_, reported_blocked_;
  const long page_ = sysconf(_SC_PAGESIZE), ticks_ = sysconf(_SC_CLK_TCK);
};

}  // namespace

std::unique_ptr<Part> make_processes(System& system, Seen& seen) { return std::make_unique<Processes>(system, seen); }

}  // namespace mw::host
