#include "sense/checkpoints/checkpoint_watch.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/writers.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr Duration kAskAgain = Duration::millis(50);  // for an answer that is out
constexpr Duration kSoon = Duration::millis(1000);    // between scans of one that was said to be done
constexpr Duration kLater = Duration::seconds(10);    // at others
constexpr Duration kAbsent = Duration::seconds(120);  // after which a folder that never came is none of this machine
constexpr size_t kReadAgain = 8;                      // last checkpoints that the run's files name
constexpr size_t kProcesses = 10'000, kFilesOpen = 4096;
constexpr int kLastCall = 500;  // ms

bool later(Duration now, Duration then, Duration by) { return now.ns - then.ns >= by.ns; }

/// Does a process that we may look into have `folder`, where it is a file, or a file below it open?
bool is_held_open(System& system, const std::string& folder) {
  const auto real = system.real(folder);
  const auto pids = system.names("/proc");
  if (!real.ok() || !pids.ok()) return false;
  size_t processes = 0;
  for (const std::string& pid : *pids) {
    if (pid.empty() || pid[0] < '0' || pid[0] > '9') continue;
    if (++processes > kProcesses) return false;
    const auto files = system.names(cat("/proc/", pid, "/fd"));
    for (size_t i = 0; files.ok() && i < std::min(files->size(), kFilesOpen); ++i) {
      const auto path = system.real(cat("/proc/", pid, "/fd/", (*files)[i]));
      if (!path.ok() || !path->starts_with(*real)) continue;
      if (path->size() == real->size() || (*path)[real->size()] == '/') return true;
    }
  }
  return false;
}

/// All bytes of what lay there were read, and something else lies there now.
bool is_other_save(const State& state, const CheckpointScan& scan) {
  const auto last = std::find_if(state.checkpoint_reads.rbegin(), state.checkpoint_reads.rend(),
                                 [&scan](const auto& one) { return one.second.path == scan.seen.path; });
  if (last == state.checkpoint_reads.rend() || last->second.tree_state == 0) return false;
  const bool reported = std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), [&](const auto& one) {
    return one.second.path == scan.seen.path && one.first.at > last->first.at;
  });
  return !reported && last->second.tree_state != scan.state;
}

/// Was it written to since the last scan of it that was recorded, in an earlier attempt? A save after a rollback may be
/// as large as the one before.
bool is_saved_anew(const State& state, const CheckpointScan& scan) {
  const auto* const last = last_scan_of(state, scan.seen.path);
  return last != nullptr && last->first.attempt + 1U < state.attempts.size() && scan.newest > last->first.at;
}

/// The folders of roles below `root`, or beside it: a log may name one of them alone.
std::vector<std::string> roles_at(Disk& disk, const std::string& root) {
  const std::string other = other_role_of(root);
  std::vector<std::string> roles = other.empty() ? role_folders(root) : std::vector<std::string>{other};
  std::erase_if(roles, [&disk](const std::string& role) { return !disk.info(role).ok(); });
  return roles;
}

}  // namespace

CheckpointWatch::~CheckpointWatch() {
  for (int i = 0; i < kLastCall && call_.busy(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void CheckpointWatch::meet(const std::string& folder, int64_t step, uint16_t attempt, bool said) {
  Kept& kept = kept_[folder];
  // A later attempt saves it anew, and some write all of theirs to one place.
  if (kept.met.ns == 0 || kept.attempt != attempt || step > kept.step) {
    kept = {};
    kept.step = step;
    kept.attempt = attempt;
    kept.met = kept.still_since = now_;
    kept.due = now_;
  }
  if (said && !kept.said) {
    kept.said = true;
    kept.due = now_;
  }
}

/// What the run's files said of its checkpoints since the last turn. The last kReadAgain are read again after a
/// restart: of two lines on the same checkpoint the second may name only its step.
void CheckpointWatch::hear(const State& state, const CheckpointLayout& layout) {
  if (roots_.empty()) {  // of the watch before this one
    for (const auto& [moment, seen] : state.checkpoint_scans) {
      if (is_deleted_by_log(seen)) continue;
      if (const std::string root = root_of(seen.path, layout); !root.empty()) roots_.try_emplace(root, false);
    }
  }
  const size_t count = state.checkpoints.size();
  if (heard_ == 0 || heard_ > count) heard_ = count - std::min(count, kReadAgain);
  for (; heard_ < count; ++heard_) {
    const auto& [moment, saved] = state.checkpoints[heard_];
    const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
    const bool relative = !saved.path.empty() && saved.path.front() != '/';
    const std::string path = relative && !scope_.folder.empty() ? cat(scope_.folder, "/", saved.path) : saved.path;
    if (layout.counts_saves) {
      hear_counted(layout, path, step, moment, saved.complete);
    } else if (path.empty() || path.front() != '/') {
      if (saved.complete && step != kNoStep) said(layout, step, moment.attempt);
    } else if (layout.known() && step != kNoStep) {
      const std::string root = root_of(path, layout);
      const std::string& place = root.empty() ? path : root;  // some name only where all of theirs are
      roots_.try_emplace(place, false);
      named_.insert(plain_path(place));
      meet(cat(place, "/", with_step(layout.folder, step)), step, moment.attempt, saved.complete);
    } else {
      meet(path, step, moment.attempt, saved.complete);
    }
  }
}

/// A step says nothing of the number of a save: only a line that names the folder speaks of it.
void CheckpointWatch::hear_counted(const CheckpointLayout& layout, const std::string& path, int64_t step,
                                   const Moment& moment, bool complete) {
  const std::string folder = path.starts_with("/") ? checkpoint_in(plain_path(path), layout) : "";
  const auto number = step_in(layout.folder, basename(folder));
  if (!number) return;
  roots_.try_emplace(folder_of(folder), false);
  meet(folder, *number, moment.attempt, complete);
  kept_[folder].log_step = step;
}

/// It is done, and where it is was said before, or lies where all of them are.
void CheckpointWatch::said(const CheckpointLayout& layout, int64_t step, uint16_t attempt) {
  bool known = false;
  for (auto& [folder, kept] : kept_) {
    if (kept.step != step || kept.attempt != attempt) continue;
    meet(folder, step, attempt, true);
    known = true;
  }
  if (known || !layout.known()) return;
  for (const auto& [root, listed] : roots_) meet(cat(root, "/", with_step(layout.folder, step)), step, attempt, true);
}

bool CheckpointWatch::overtaken(const std::string& folder, const Kept& kept) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& other) {
    return other.second.step > kept.step && folder_of(other.first) == folder_of(folder);
  });
}

/// A whole one was saved behind it, and it was like this before that. (A trainer may save light ones in between.)
bool CheckpointWatch::is_passed(const std::string& folder, const Kept& kept) const {
  const Kept* next = nullptr;
  size_t whole = 0, others = 0;
  for (const auto& [path, other] : kept_) {
    if (folder_of(path) != folder_of(folder) || other.attempt != kept.attempt || !other.scan.there) continue;
    const bool is_whole = other.scan.seen.how == How::kWhole;
    ++(is_whole ? whole : others);
    if (is_whole && other.step > kept.step && (next == nullptr || other.step < next->step)) next = &other;
  }
  return next != nullptr && others < whole && never_was_whole(kept.scan, next->scan);
}

/// The newest whole one of the same attempt that lies beside it.
const CheckpointScan* CheckpointWatch::before(const std::string& folder, const Kept& kept) const {
  const Kept* newest = nullptr;
  for (const auto& [path, other] : kept_) {
    const bool whole = other.scan.there && other.scan.seen.how == How::kWhole;
    if (other.step >= kept.step || other.attempt != kept.attempt || !whole) continue;
    if (folder_of(path) == folder_of(folder) && (newest == nullptr || other.step > newest->step)) newest = &other;
  }
  return newest == nullptr ? nullptr : &newest->scan;
}

void CheckpointWatch::ask(const CheckpointLayout& layout, const State& state) {
  const auto due = std::find_if(kept_.begin(), kept_.end(),
                                [&](const auto& one) { return !one.second.over && one.second.due <= now_; });
  const bool list = layout.known() && !roots_.empty() && (listed_.ns == 0 || later(now_, listed_, kPeriod));
  if (due == kept_.end() && !list) return;
  std::string folder = due == kept_.end() ? "" : due->first;
  const int64_t step = due == kept_.end() ? kNoStep : layout.counts_saves ? due->second.log_step : due->second.step;
  std::optional<CheckpointScan> previous;
  if (!folder.empty()) {
    if (const CheckpointScan* one = before(folder, due->second); one != nullptr) previous = *one;
  }
  std::vector<std::string> roots;
  std::set<std::string> listed_before;
  for (auto& [root, listed] : roots_) {
    if (!list) break;
    roots.push_back(root);
    if (std::exchange(listed, true)) listed_before.insert(root);
  }
  if (list) listed_ = now_;
  std::set<std::string> doubted;
  for (const std::string& root : roots) {
    if (pointers_.doubted(root)) doubted.insert(root);
  }
  call_.start([disk = scope_.disk, system = scope_.system, layout, folder = std::move(folder), step,
               previous = std::move(previous), roots = std::move(roots), listed_before = std::move(listed_before),
               doubted = std::move(doubted), named = named_, run_folder = scope_.run_folder, began = began_,
               saves_in = saves_in_, roles = roles_, attempts = ended_attempts(state)] {
    Answer answer;
    if (!roots.empty() && !run_folder.empty() && system != nullptr) {
      Writers writers = writers_below(*system, roots, layout, run_folder);
      writers.named = named;
      note_writers(*disk, run_folder, writers);
    }
    answer.listed_before = listed_before;
    answer.folder = folder;
    if (!folder.empty()) {
      VerifyOptions how;
      how.attempts = attempts;
      answer.scan = scan_checkpoint(*disk, folder, step, previous ? &*previous : nullptr, nullptr, how);
      const bool broken = answer.scan.there && answer.scan.seen.how == How::kBroken;
      answer.held_open = broken && system != nullptr && is_held_open(*system, folder);
    }
    for (const std::string& root : roots) {
      const auto steps = checkpoint_steps(*disk, root, layout);
      for (const int64_t one : steps.ok() ? *steps : std::vector<int64_t>()) {
        std::string found = cat(root, "/", with_step(layout.folder, one));
        // It was learnt late that these are the run's.
        const auto info = root == saves_in || roles.count(root) != 0 ? disk->info(found) : Result<FileInfo>(FileInfo{});
        if (info.ok() && info->changed >= began) answer.fresh.insert(found);
        answer.found.emplace_back(std::move(found), one);
      }
      for (std::string& role : roles_at(*disk, root)) answer.roles.push_back(std::move(role));
      answer.pointers[root] = scan_pointer(*disk, root, layout);
      if (doubted.count(root) != 0 && system != nullptr && is_held_open(*system, root)) answer.held_roots.insert(root);
    }
    return answer;
  });
}

/// Nothing shows yet where it saves. What was declared may be a folder above that.
bool CheckpointWatch::searches() const {
  return scope_.members && kept_.empty() && listed_folders_.empty() && roots_.size() <= scope_.roots.size();
}

/// Was it declared, if only by a folder around it? In a declared folder itself a list shows what is new.
bool CheckpointWatch::may_be_found(const std::string& root) const {
  return scope_.roots.empty() || std::any_of(scope_.roots.begin(), scope_.roots.end(), [&root](const auto& declared) {
           return plain_path(root) != plain_path(declared) && lies_in(root, plain_path(declared));
         });
}

/// A trainer that says nothing of its saves (transformers' Trainer, below its level of information): what its processes
/// have open while they save shows where that is. A small one is saved in less time than lies between two searches:
/// it may lie beside the files that they keep open.
void CheckpointWatch::search(const CheckpointLayout& layout) {
  if (!searches() || !layout.known() || scope_.system == nullptr) return;
  if (searched_.ns > 0 && !later(now_, searched_, kSearch)) return;
  searched_ = now_;
  const bool announced = std::exchange(searched_at_, heard_) != heard_;
  const bool beside = announced || searched_beside_.ns == 0 || later(now_, searched_beside_, kPeriod);
  if (beside) searched_beside_ = now_;
  call_.start([disk = scope_.disk, system = scope_.system, layout, pids = scope_.members(),
               run_folder = scope_.run_folder, beside] {
    Answer answer;
    answer.written = written_now(*system, pids, layout);
    if (beside && !layout.counts_saves) answer.beside = saved_beside(*disk, *system, pids, layout);
    Writers own;
    for (const std::string& folder : answer.written) own.own.insert(root_of(folder, layout));
    if (!own.own.empty() && !run_folder.empty()) note_writers(*disk, run_folder, own);
    return answer;
  });
}

void CheckpointWatch::judge_pointers(const Answer& answer, const State& state, const CheckpointLayout& layout,
                                     EventWriter& writer) {
  for (const auto& [root, look] : answer.pointers) {
    PointerWatch::Facts facts;
    facts.now = now_;
    if (state.verdict == "running" && !state.attempts.empty()) facts.run_step = state.attempts.back().last_step;
    facts.saving = answer.held_roots.count(root) != 0 || state.current_phase == "save";
    std::map<std::string, How> last;  // what was found of those that are still there
    for (const auto& [moment, seen] : state.checkpoint_scans) last[seen.path] = seen.how;
    for (const auto& [folder, step] : answer.found) {
      if (folder_of(folder) != root) continue;
      const auto kept = kept_.find(folder);
      const bool here = kept != kept_.end() && kept->second.scan.there;
      if (here && !later(now_, kept->second.still_since, PointerWatch::kPatience)) facts.saving = true;
      const auto known = last.find(folder);
      if (known == last.end()) continue;
      if (known->second == How::kWhole) facts.whole.insert(step);
      if (known->second == How::kBroken) facts.broken.insert(step);
    }
    facts.elsewhere = std::any_of(answer.pointers.begin(), answer.pointers.end(),
                                  [&own = root](const auto& one) { return one.first != own && one.second.known; });
    if (!pointers_.met(root)) {
      const std::string path = cat(root, "/", layout.pointer);
      const auto before = std::find_if(state.pointers.rbegin(), state.pointers.rend(),
                                       [&path](const auto& one) { return one.second.path == path; });
      if (before != state.pointers.rend() && !before->second.right) pointers_.reported(root, before->second.step);
    }
    if (auto seen = pointers_.judge(root, layout, look, facts))
      writer.observed(std::string(kScanSource), std::move(*seen));
  }
}

void CheckpointWatch::judge(Kept& kept, bool held_open, const State& state, EventWriter& writer) {
  const CheckpointScan& scan = kept.scan;
  const bool broken = scan.seen.how == How::kBroken;
  const bool passed = broken && is_passed(scan.seen.path, kept);
  const bool still = later(now_, kept.still_since, kept.said ? kSettled : passed ? kPassed : kStill);
  // One that was no longer the newest when it was first looked at may have been cleared away since.
  const bool over = passed || (kept.fresh && (kept.said || overtaken(scan.seen.path, kept)));
  const bool judged = broken          ? still && !held_open && over
                      : scan.doubtful ? later(now_, kept.still_since, kStill)  // a save may pause in the middle
                                      : kept.said || later(now_, kept.still_since, kSettled);
  kept.due = {now_.ns + ((kept.said || kept.seen_written) && !kept.reported ? kSoon : kLater).ns};
  const bool other = kept.how != scan.seen.how || kept.lacks != scan.seen.lacks || kept.doubt != scan.seen.doubt;
  if (judged && (!kept.reported || other)) {
    kept.reported = true;
    kept.how = scan.seen.how;
    kept.lacks = scan.seen.lacks;
    kept.doubt = scan.seen.doubt;
    if (is_news(state, scan.seen) || is_other_save(state, scan) || is_saved_anew(state, scan)) {
      writer.observed(std::string(kScanSource), event::CheckpointSeen(scan.seen));
    }
  }
  const bool sound = kept.how != How::kBroken && !scan.doubtful;
  kept.over = kept.reported && (sound || later(now_, kept.met, kHealing));
}

void CheckpointWatch::take(Answer answer, const State& state, const CheckpointLayout& layout, EventWriter& writer) {
  const auto attempt = static_cast<uint16_t>(state.attempts.empty() ? 0 : state.attempts.size() - 1);
  for (const std::string& folder : answer.written) {
    const auto step = step_in(layout.folder, basename(folder));
    if (!step || !may_be_found(root_of(folder, layout))) continue;
    roots_.try_emplace(root_of(folder, layout), false);
    meet(folder, *step, attempt, false);
    kept_[folder].seen_written = true;
  }
  std::erase_if(answer.beside, [this](const auto& one) { return one.second.changed < began_; });
  if (const std::string root = steps_.folder_of(answer.beside, announced_saves(state));
      !root.empty() && may_be_found(root)) {
    roots_.try_emplace(root, false);
    for (const auto& [folder, saved] : answer.beside) {
      if (folder_of(folder) != root || !steps_.fits(saved.step, saved.changed)) continue;
      meet(folder, saved.step, attempt, false);
      kept_[folder].seen_written = true;
    }
  }
  for (const std::string& role : answer.roles) {
    if (roots_.try_emplace(role, false).second) roles_.insert(role);
  }
  for (const auto& [folder, step] : answer.found) {
    // What lay there before the watch began is not reported.
    const bool is_new = answer.listed_before.count(folder_of(folder)) > 0 || answer.fresh.count(folder) > 0;
    if (listed_folders_.insert(folder).second && is_new && kept_.count(folder) == 0) {
      meet(folder, step, attempt, false);
    }
    const auto pointer = answer.pointers.find(folder_of(folder));
    const auto known = kept_.find(folder);
    if (pointer != answer.pointers.end() && pointer->second.step == step && known != kept_.end()) {
      meet(folder, step, known->second.attempt, true);
    }
  }
  judge_pointers(answer, state, layout, writer);
  const auto asked = kept_.find(answer.folder);
  if (asked == kept_.end()) return;
  Kept& kept = asked->second;
  if (!answer.scan.there) {
    kept.due = {now_.ns + kLater.ns};
    kept.over = later(now_, kept.met, kAbsent) || kept.reported;
    return;
  }
  if (answer.scan.state != kept.scan.state || !kept.scan.there) kept.still_since = now_;
  if (!kept.scan.there) kept.fresh = !overtaken(answer.folder, kept);
  kept.scan = std::move(answer.scan);
  judge(kept, answer.held_open, state, writer);
}

void CheckpointWatch::forget() {
  while (kept_.size() > kKept) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                 [](const auto& a, const auto& b) { return a.second.met.ns < b.second.met.ns; }));
  }
}

std::optional<Duration> CheckpointWatch::turn(const State& state, bool, EventWriter& writer) {
  now_ = clock_.steady();
  if (!state.attempts.empty()) steps_.at(clock_.now(), state.attempts.back().last_step);
  const CheckpointLayout layout = scope_.layout(state.saver());  // a copy of several strings: once a turn
  for (const std::string& root : scope_.roots) roots_.try_emplace(root, false);
  if (saves_in_ != state.saves_in) saves_in_ = state.saves_in;
  if (!saves_in_.empty()) roots_.try_emplace(saves_in_, false);
  if (const std::string said = said_folder(state, scope_.folder); !said.empty() && named_.insert(said).second)
    roots_.try_emplace(said, false);
  hear(state, layout);
  if (auto answer = call_.take()) take(std::move(*answer), state, layout, writer);
  if (!call_.started()) ask(layout, state);
  if (!call_.started()) search(layout);
  forget();
  if (call_.started()) return kAskAgain;
  Duration wait = searches() ? kSearch : kPeriod;
  for (const auto& [path, kept] : kept_) {
    if (!kept.over) wait = std::min(wait, Duration{std::max<int64_t>(kAskAgain.ns, kept.due.ns - now_.ns)});
  }
  return wait;
}

std::unique_ptr<CheckpointWatch> watch_checkpoints(Clock& clock,
                                                   std::function<CheckpointLayout(const std::string&)> layout,
                                                   std::string folder, std::vector<std::string> roots,
                                                   std::function<std::vector<int64_t>()> members,
                                                   std::string run_folder) {
  return std::make_unique<CheckpointWatch>(
      clock, CheckpointScope{make_posix_disk(), make_posix_system(), std::move(folder), std::move(roots),
                             std::move(layout), std::move(members), std::move(run_folder)});
}

}  // namespace mw
