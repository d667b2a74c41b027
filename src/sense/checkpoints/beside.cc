#include "sense/checkpoints/beside.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/event.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

constexpr size_t kFolders = 200;
constexpr size_t kEntries = 2000;  // of one folder; one with more holds data, and none below it is looked into
constexpr int kLevels = 2;         // above an open file's folder, and below the one in which a process works
constexpr Duration kSlack = Duration::seconds(3);
constexpr Duration kAnnounced = Duration::seconds(60);  // between the log's word of a save and its first files

class Search {
 public:
  Search(Disk& disk, const CheckpointLayout& layout) : disk_(disk), layout_(layout) {}

  void of_process(System& system, int64_t pid) {
    const std::string proc = cat("/proc/", pid);
    for_each_open(system, cat(pid), [this](const std::string& path, const auto& to_write) {
      if (!is_shared(path) && to_write()) above(path);
    });
    const auto works = system.link(proc + "/cwd");
    if (works.ok()) enter(*works, kLevels);
    const auto command = system.read(proc + "/cmdline", System::kFileBytes);
    const std::string words = command.ok() ? *command : "";  // which the parts of it point into
    const std::vector<std::string_view> parts = split(words, '\0');
    for (const std::string& one :
         output_folders(std::vector<std::string>(parts.begin(), parts.end()), works.ok() ? *works : "")) {
      enter(one, 1);
      outputs_.insert(one);
    }
    for (const std::string_view word : parts) {
      named(word, works.ok() ? *works : "");
      if (const size_t equals = word.find('='); equals != std::string_view::npos)
        named(word.substr(equals + 1), works.ok() ? *works : "");
    }
  }
  std::map<std::string, SavedBeside> take() {
    for (auto& [path, one] : saved_) {
      const std::string folder = folder_of(path);
      one.output = outputs_.count(folder) != 0 || outputs_.count(folder_of(folder)) != 0;
    }
    return std::move(saved_);
  }

  /// What is in a folder, and so many levels below it.
  void enter(const std::string& folder, int levels) {
    if (is_shared(folder)) return;
    int& entered = entered_.try_emplace(folder, -1).first->second;
    if (entered >= levels || (entered < 0 && ++folders_ > kFolders)) return;
    entered = levels;
    const auto names = disk_.list(folder);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      const auto step = step_in(layout_.folder, name);
      const bool passed = name.starts_with('.') || name == "node_modules" || name == "__pycache__" || name == "wandb";
      if (!step && (levels == 0 || passed || names->size() > kEntries)) continue;
      const std::string full = cat(folder, "/", name);
      const auto info = disk_.info(full);
      if (!info.ok()) continue;
      if (!step) {
        if (info->kind == FileInfo::Kind::kFolder) enter(full, levels - 1);
      } else if (is_checkpoint_kind(*info, layout_) && seen_.insert({info->device, info->inode}).second) {
        saved_[full] = {*step, info->changed};
      }
    }
  }

 private:
  static bool is_shared(const std::string& path) {  // "/", "/tmp", "/data": of everybody
    return !path.starts_with('/') || std::count(path.begin(), path.end(), '/') < 2 || path.starts_with("/proc/") ||
           path.starts_with("/dev/") || path.starts_with("/sys/");
  }
  /// The folders above an open file.
  void above(std::string path) {
    for (int i = 0; i <= kLevels && !is_shared(path); ++i) enter(path = folder_of(path), 0);
  }
  void named(std::string_view word, const std::string& works) {
    if (word.empty() || word.starts_with('-') || word.size() > kTextLimit) return;
    while (word.size() > 1 && word.ends_with('/')) word.remove_suffix(1);
    const std::string path = word.starts_with('/') ? std::string(word) : cat(works, "/", word);
    const auto info = disk_.info(path);
    if (info.ok() && info->kind == FileInfo::Kind::kFolder) enter(path, 0);
  }

  Disk& disk_;
  const CheckpointLayout& layout_;
  std::map<std::string, int> entered_;  // folders, and how many levels below them
  size_t folders_ = 0;
  std::set<std::pair<uint64_t, uint64_t>> seen_;  // device and inode: one folder under two names is one
  std::map<std::string, SavedBeside> saved_;
  std::set<std::string> outputs_;
};

}  // namespace

std::map<std::string, SavedBeside> saved_beside(Disk& disk, System& system, const std::vector<int64_t>& pids,
                                                const CheckpointLayout& layout) {
  Search search(disk, layout);
  for (const int64_t pid : pids) search.of_process(system, pid);
  return search.take();
}

std::map<std::string, SavedBeside> saved_below(Disk& disk, const std::map<std::string, int>& folders,
                                               const CheckpointLayout& layout) {
  Search search(disk, layout);
  for (const auto& [folder, levels] : folders) search.enter(folder, levels);
  return search.take();
}

std::map<int64_t, Time> announced_saves(const State& state) {
  std::map<int64_t, Time> saves;
  for (const auto& [moment, saved] : state.checkpoints) {
    const bool last = moment.attempt + 1U == state.attempts.size();
    if (last && saved.step != kNoStep && moment.at.known() && !state.by_host(moment.where))
      saves[saved.step] = moment.at;
  }
  return saves;
}

void StepsInTime::at(Time now, int64_t step) {
  const Time from = std::exchange(called_, now);
  if (step == kNoStep) return;
  // Another training of the command counts anew: by the steps of the one before none of its saves is in time.
  if (!seen_.empty() && 2 * step < seen_.back().step) seen_.clear();
  // Between two changes the latest time counts: what is made after it belongs to the next step.
  if (seen_.size() >= 2 && seen_.back().step == step && seen_[seen_.size() - 2].step == step) {
    seen_.back() = {from, now, step};
    return;
  }
  seen_.push_back({from.known() ? from : now, now, step});
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
  // A watch that came late (a disk that hangs) may say the step of before.
  const bool late = before != nullptr && before->at - before->from > kSlack;
  const bool not_early = before == nullptr || made + kSlack >= (late ? before->from : before->at);
  return not_early && (after == nullptr || made <= after->at + kSlack);
}

bool StepsInTime::may_come(int64_t step, Time made) const {
  if (made + kSlack < called_) return false;
  return std::none_of(seen_.begin(), seen_.end(), [step](const Seen& one) { return one.step >= step; });
}

std::string StepsInTime::folder_of(const std::map<std::string, SavedBeside>& saved,
                                   const std::map<int64_t, Time>& announced) const {
  std::map<std::string, std::pair<int, int>> made;  // by folder: in time, and out of it
  std::set<std::string> outputs;                    // and others of which one in time is enough
  for (const auto& [path, one] : saved) {
    const auto said = announced.find(one.step);
    const bool just_then = said != announced.end() && std::abs(one.changed.ns - said->second.ns) <= kAnnounced.ns;
    if (!just_then && (seen_.empty() || one.changed < seen_.front().at)) continue;  // by an earlier run
    if (one.output || just_then) outputs.insert(mw::folder_of(path));
    auto& [in_time, out_of_time] = made[mw::folder_of(path)];
    if (just_then || fits(one.step, one.changed)) {
      ++in_time;
    } else if (!may_come(one.step, one.changed)) {
      ++out_of_time;
    }
  }
  std::vector<std::string> found;
  for (const auto& [folder, count] : made) {
    if (count.first >= (outputs.count(folder) != 0 ? 1 : 2) && count.second == 0) found.push_back(folder);
  }
  // Some write the weights alone beside each checkpoint ("weights/step_10"): no trainer resumes from those.
  const auto is_named = [](const std::string& folder) {
    return contains(basename(folder), "checkpoint") || contains(basename(folder), "ckpt");
  };
  if (std::count_if(found.begin(), found.end(), is_named) == 1) std::erase_if(found, std::not_fn(is_named));
  return found.size() == 1 ? found.front() : "";
}

}  // namespace mw
