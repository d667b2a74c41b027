#include "sense/checkpoints/beside.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

constexpr size_t kFolders = 200, kFilesOpen = 4096;
constexpr int kLevels = 2;  // above an open file's folder, and below the one in which a process works
constexpr Duration kSlack = Duration::seconds(3);

class Places {
 public:
  Places(Disk& disk, System& system) : disk_(disk), system_(system) {}

  void of_process(int64_t pid) {
    const std::string proc = cat("/proc/", pid);
    const auto files = system_.names(proc + "/fd");
    for (size_t i = 0; files.ok() && i < std::min(files->size(), kFilesOpen); ++i) {
      if (const auto path = system_.link(cat(proc, "/fd/", (*files)[i])); path.ok()) above(*path);
    }
    const auto works = system_.link(proc + "/cwd");
    if (works.ok()) below(*works, kLevels);
    const auto command = system_.read(proc + "/cmdline", System::kFileBytes);
    for (const std::string_view word : split(command.ok() ? *command : std::string(), '\0')) {
      named(word, works.ok() ? *works : "");
      if (const size_t equals = word.find('='); equals != std::string_view::npos)
        named(word.substr(equals + 1), works.ok() ? *works : "");
    }
  }
  const std::set<std::string>& found() const { return found_; }

 private:
  static bool is_shared(const std::string& folder) {  // "/", "/tmp", "/data": of everybody
    return !folder.starts_with('/') || std::count(folder.begin(), folder.end(), '/') < 2 ||
           folder.starts_with("/proc/") || folder.starts_with("/dev/") || folder.starts_with("/sys/");
  }
  bool add(const std::string& folder) {
    return !is_shared(folder) && found_.size() < kFolders && found_.insert(folder).second;
  }
  /// The folders above an open file.
  void above(std::string path) {
    for (int i = 0; i <= kLevels && !path.empty() && !is_shared(path); ++i) {
      path.resize(path.rfind('/'));
      if (!path.empty()) add(path);
    }
  }
  void below(const std::string& folder, int levels) {
    if (!add(folder) || levels == 0) return;
    const auto names = disk_.list(folder);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (found_.size() >= kFolders) return;
      if (name.starts_with('.') || name == "node_modules" || name == "__pycache__" || name == "wandb") continue;
      const std::string full = cat(folder, "/", name);
      const auto info = disk_.info(full);
      if (info.ok() && info->kind == FileInfo::Kind::kFolder) below(full, levels - 1);
    }
  }
  void named(std::string_view word, const std::string& works) {
    if (word.empty() || word.starts_with('-') || word.size() > kTextLimit) return;
    while (word.size() > 1 && word.ends_with('/')) word.remove_suffix(1);
    const std::string path = word.starts_with('/') ? std::string(word) : cat(works, "/", word);
    const auto info = disk_.info(path);
    if (info.ok() && info->kind == FileInfo::Kind::kFolder) add(path);
  }

  Disk& disk_;
  System& system_;
  std::set<std::string> found_;
};

std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::map<std::string, SavedBeside> saved_beside(Disk& disk, System& system, const std::vector<int64_t>& pids,
                                                const CheckpointLayout& layout) {
  Places places(disk, system);
  for (const int64_t pid : pids) places.of_process(pid);
  std::map<std::string, SavedBeside> saved;
  std::set<std::pair<uint64_t, uint64_t>> seen;  // device and inode: one folder under two names is one
  for (const std::string& folder : places.found()) {
    const auto steps = checkpoint_steps(disk, folder, layout);
    for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>()) {
      std::string path = cat(folder, "/", with_step(layout.folder, step));
      const auto info = disk.info(path);
      if (!info.ok() || info->kind != FileInfo::Kind::kFolder || !seen.insert({info->device, info->inode}).second)
        continue;
      saved[std::move(path)] = {step, info->changed};
    }
  }
  return saved;
}

void StepsInTime::at(Time now, int64_t step) {
  if (step == kNoStep) return;
  // Between two changes the latest time counts: what is made after it belongs to the next step.
  if (seen_.size() >= 2 && seen_.back().step == step && seen_[seen_.size() - 2].step == step) {
    seen_.back().at = now;
    return;
  }
  seen_.push_back({now, step});
  if (seen_.size() > kKept) seen_.pop_front();
}

bool StepsInTime::fits(int64_t step, Time made) const {
  if (seen_.empty() || made + kSlack < seen_.front().at) return false;
  const Seen* before = nullptr;  // the latest time before the step was reached
  const Seen* after = nullptr;   // the first after it was passed
  bool reached = false;
  for (const Seen& one : seen_) {
    if (one.step < step) before = &one;
    if (one.step >= step) reached = true;
    if (one.step > step && after == nullptr) after = &one;
  }
  if (!reached) return false;
  const bool not_early = before == nullptr || made + kSlack >= before->at;
  return not_early && (after == nullptr || made <= after->at + kSlack);
}

std::string StepsInTime::folder_of(const std::map<std::string, SavedBeside>& saved) const {
  std::map<std::string, std::pair<int, int>> made;  // by folder: in time, and out of it
  for (const auto& [path, one] : saved) {
    if (seen_.empty() || one.changed < seen_.front().at) continue;  // by an earlier run
    auto& [in_time, out_of_time] = made[parent(path)];
    ++(fits(one.step, one.changed) ? in_time : out_of_time);
  }
  std::string found;
  for (const auto& [folder, count] : made) {
    if (count.first < 2 || count.second > 0) continue;
    if (!found.empty()) return "";
    found = folder;
  }
  return found;
}

}  // namespace mw
