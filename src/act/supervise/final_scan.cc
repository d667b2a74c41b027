#include "act/supervise/final_scan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "act/supervise/run_ownership.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kMany = 64;  // as many as are remembered beside the run

struct Found {
  How how = How::kUnknown;
  uint16_t attempt = 0;
  int64_t bytes = 0;
};

constexpr int64_t kLight = 10;  // a whole one beside it is so many times as large: it may hold settings only

/// What was found of each last, by path.
std::map<std::string, Found> found_in(const State& state) {
  std::map<std::string, Found> found;
  for (const auto& [moment, seen] : state.checkpoint_scans) found[seen.path] = {seen.how, moment.attempt, seen.bytes};
  return found;
}

/// The folder of a checkpoint that the run's files name; "": they do not say which.
std::string folder_named(const event::CheckpointSaved& saved, int64_t step, const CheckpointLayout& layout,
                         const std::string& folder) {
  if (saved.path.empty()) return "";
  const std::string path = plain_path(saved.path.front() == '/' ? saved.path : cat(folder, "/", saved.path));
  if (path.front() != '/' || !layout.known() || step == kNoStep) return path.front() == '/' ? path : "";
  if (layout.counts_saves) return checkpoint_in(path, layout);
  const std::string root = root_of(path, layout);  // some name only where all of theirs are
  return cat(root.empty() ? path : root, "/", with_step(layout.folder, step));
}

class Collector {
 public:
  Collector(Disk& disk, const RunSpec& spec, const State& state, const CheckpointLayout& layout)
      : disk_(disk), spec_(spec), state_(state), layout_(layout), found_(found_in(state)) {}

  void named() {
    for (const auto& [moment, saved] : state_.checkpoints) {
      const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
      const std::string path = folder_named(saved, step, layout_, spec_.folder);
      if (!path.empty()) add(path, step, moment.attempt);
    }
  }

  /// Those of which its files say nothing.
  void own(const std::string& run_folder) {
    const auto roots = checkpoint_roots(disk_, state_, layout_, spec_.checkpoints, spec_.folder, spec_.command);
    const auto own = ownership_of(disk_, run_folder, spec_, state_, layout_);
    if (!roots.ok() || !own.ok()) return;
    for (const std::string& root : *roots) {
      const auto steps = checkpoint_steps(disk_, root, layout_);
      if (!steps.ok() || !own->may_save_in(root)) continue;
      for (const int64_t step : *steps) {
        const auto whose = whose_is(disk_, *own, root, layout_, step);
        if (whose.ok() && *whose == Whose::kOwn)
          add(cat(root, "/", with_step(layout_.folder, step)), step_of_number(layout_, step), 0);
      }
    }
  }

  std::vector<DueScan> take() {
    std::vector<DueScan> due;
    for (auto& [path, one] : due_) due.push_back(std::move(one));
    const auto by_step = [](const DueScan& a, const DueScan& b) { return a.step < b.step; };
    std::sort(due.begin(), due.end(), by_step);
    if (due.size() > kMany) due.erase(due.begin(), due.end() - kMany);
    for (const auto& [path, step] : whole_after(due)) due.push_back({path, step, false, true});
    std::sort(due.begin(), due.end(), by_step);
    if (const std::string before = whole_before(due); !before.empty()) {
      due.insert(due.begin(), {before, steps_.at(before), false, true});
    }
    return due;
  }

 private:
  void add(const std::string& path, int64_t step, uint16_t attempt) {
    if (step == kNoStep && due_.count(path) != 0) return;  // its log says more of it
    const auto known = found_.find(path);
    const bool anew = known != found_.end() && attempt > known->second.attempt;
    if (known == found_.end() || known->second.how == How::kBroken || anew || is_light(path, known->second)) {
      DueScan& one = due_[path];
      one = {path, step, anew || one.saved_anew, false};
    }
  }

  /// Nothing spoke against it while none was beside it that is whole.
  bool is_light(const std::string& path, const Found& of) const {
    return of.how == How::kUnknown && std::any_of(found_.begin(), found_.end(), [&](const auto& other) {
             return other.second.how == How::kWhole && other.second.bytes / kLight > of.bytes &&
                    folder_of(other.first) == folder_of(path);
           });
  }

  /// The newest one beside the first of them that was found whole before it.
  std::string whole_before(const std::vector<DueScan>& due) {
    std::string newest;
    if (due.empty()) return newest;
    for (const auto& [moment, seen] : state_.checkpoint_scans) {
      if (seen.how != How::kWhole || seen.step == kNoStep || seen.step >= due.front().step) continue;
      if (folder_of(seen.path) != folder_of(due.front().path) || due_.count(seen.path) != 0) continue;
      steps_[seen.path] = seen.step;
      if (newest.empty() || seen.step > steps_[newest]) newest = seen.path;
    }
    return newest;
  }

  /// Of each of them the next one beside it that was found whole before.
  std::map<std::string, int64_t> whole_after(const std::vector<DueScan>& due) const {
    std::map<std::string, int64_t> found;
    for (const DueScan& one : due) {
      const event::CheckpointSeen* next = nullptr;
      for (const auto& [moment, seen] : state_.checkpoint_scans) {
        if (seen.how != How::kWhole || seen.step <= one.step || folder_of(seen.path) != folder_of(one.path)) continue;
        if (next == nullptr || seen.step < next->step) next = &seen;
      }
      if (next != nullptr && due_.count(next->path) == 0) found[next->path] = next->step;
    }
    return found;
  }

  Disk& disk_;
  const RunSpec& spec_;
  const State& state_;
  const CheckpointLayout& layout_;
  std::map<std::string, Found> found_;
  std::map<std::string, DueScan> due_;  // by path
  std::map<std::string, int64_t> steps_;
};

/// The first saves have none before them that shows what they lack.
void compare_with_later(Disk& disk, const std::vector<DueScan>& due, std::vector<CheckpointScan>& scans) {
  for (size_t i = 0; i < scans.size(); ++i) {
    if (!scans[i].there || scans[i].seen.how != How::kUnknown || scans[i].may_hold_weights) continue;
    const auto later =
        std::find_if(scans.begin() + static_cast<std::ptrdiff_t>(i), scans.end(), [&](const CheckpointScan& other) {
          return other.seen.how == How::kWhole && folder_of(other.seen.path) == folder_of(due[i].path);
        });
    if (later != scans.end()) scans[i] = scan_checkpoint(disk, due[i].path, due[i].step, &*later);
  }
}

std::vector<CheckpointScan> look_at(Disk& disk, const std::vector<DueScan>& due,
                                    const std::vector<EndedAttempt>& attempts) {
  std::vector<CheckpointScan> scans;
  VerifyOptions how;
  how.attempts = attempts;
  std::map<std::string, CheckpointScan> whole;  // the last, by the folder it lies in
  for (const DueScan& one : due) {
    const auto before = whole.find(folder_of(one.path));
    CheckpointScan scan =
        scan_checkpoint(disk, one.path, one.step, before == whole.end() ? nullptr : &before->second, nullptr, how);
    if (scan.there && scan.seen.how == How::kWhole) whole[folder_of(one.path)] = scan;
    scans.push_back(std::move(scan));
  }
  compare_with_later(disk, due, scans);
  return scans;
}

}  // namespace

std::vector<DueScan> due_scans(Disk& disk, const std::string& run_folder, const RunSpec& spec, const State& state,
                               const CheckpointLayout& layout) {
  Collector collector(disk, spec, state, layout);
  collector.named();
  if (layout.known()) collector.own(run_folder);
  return collector.take();
}

void FinalScan::start() {
  if (due_.empty() || clock_.steady() < next_) return;
  call_.start([disk = scope_.disk, due = due_, attempts = attempts_] { return look_at(*disk, due, attempts); });
  if (!call_.started()) due_.clear();  // no thread to be had
}

/// Was it saved so, by all that lies beside it? The last one is not whole at the end of many a healthy run that
/// somebody stopped, and a framework may have begun to clear an old one away.
bool FinalScan::stays_broken(const std::vector<CheckpointScan>& scans, size_t which, const State& state) const {
  const CheckpointScan& broken = scans[which];
  std::set<std::string> whole, others;  // a trainer may save light ones in between
  const auto beside = [&broken](const std::string& path) { return folder_of(path) == folder_of(broken.seen.path); };
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.how == How::kWhole && beside(seen.path)) whole.insert(seen.path);
  }
  const CheckpointScan* next = nullptr;
  for (const CheckpointScan& scan : scans) {
    if (!scan.there || !beside(scan.seen.path)) continue;
    const bool is_whole = scan.seen.how == How::kWhole;
    (is_whole ? whole : others).insert(scan.seen.path);
    if (is_whole && next == nullptr && scan.seen.step > broken.seen.step) next = &scan;
  }
  return next != nullptr && others.size() < whole.size() && never_was_whole(broken, *next);
}

/// What is whole is reported, and what never was while others beside it are; a restart looks for itself. Of files that
/// nobody knows the end of a save cannot be seen: then the run's own is needed.
void FinalScan::take(const std::vector<CheckpointScan>& scans, const State& state, EventWriter& writer) {
  std::vector<DueScan> left;
  const bool finished = state.verdict == "finished";
  for (size_t i = 0; i < scans.size() && i < due_.size(); ++i) {
    const CheckpointScan& scan = scans[i];
    if (due_[i].known) {
      left.push_back(due_[i]);
      continue;
    }
    if (!scan.there) continue;
    const auto before = before_.find(due_[i].path);
    if (before == before_.end() || before->second != scan.state) {
      before_[due_[i].path] = scan.state;
      left.push_back(due_[i]);
      continue;
    }
    const bool broken = scan.seen.how == How::kBroken && stays_broken(scans, i, state);
    const bool good =
        broken || is_doubted(scan.seen) || scan.seen.how == How::kWhole || (scan.seen.how == How::kUnknown && finished);
    if (good && (due_[i].saved_anew || is_news(state, scan.seen)))
      writer.observed(std::string(kScanSource), event::CheckpointSeen(scan.seen));
  }
  due_ = std::move(left);
  if (std::all_of(due_.begin(), due_.end(), [](const DueScan& one) { return one.known; })) due_.clear();
  next_ = {clock_.steady().ns + kStill.ns};
}

std::optional<Duration> FinalScan::turn(const State& state, bool, EventWriter& writer) {
  if (auto scans = call_.take()) take(*scans, state, writer);
  if (ended_ && !call_.started()) start();
  return ended_ ? kPoll : Duration::seconds(10);
}

bool FinalScan::may_end(const State& state, int stops) {
  if (!ended_) {
    ended_ = clock_.steady();
    due_ = scope_.due(state);
    attempts_ = ended_attempts(state);
  }
  const bool stopped = stops > 0 || state.supervision.stop;
  if (stops > 1 || since(*ended_) >= (stopped ? std::min(scope_.wait, kAtStop) : scope_.wait)) return true;
  return due_.empty();
}

std::unique_ptr<FinalScan> final_scan(Clock& clock, const RunSpec& spec, const std::string& run_folder, Duration wait,
                                      std::function<CheckpointLayout(const std::string& framework)> layout) {
  FinalScanScope scope;
  scope.disk = make_posix_disk();
  scope.due = [disk = scope.disk, spec, run_folder, layout = std::move(layout)](const State& state) {
    return due_scans(*disk, run_folder, spec, state, layout(state.saver()));
  };
  scope.wait = wait;
  return std::make_unique<FinalScan>(clock, std::move(scope));
}

}  // namespace mw
