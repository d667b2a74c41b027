#include "core/trainings.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/incident_kind.h"

namespace mw {
namespace {

/// It counts from the first step on, and nothing says that it resumed.
bool begins_anew(const AttemptState& one) {
  return !one.resumed && one.resumed_at == kNoStep && one.first_step != kNoStep && one.first_step <= 1;
}

/// Likewise, of a training that is behind another one: the first record may be of the tenth step, and all of them may
/// say that they load a model.
bool begins_another(const State& state, size_t attempt) {
  const AttemptState &first = state.attempts.front(), &one = state.attempts[attempt];
  if (!begun_within_command(state, attempt) || one.resumed_at != kNoStep || one.first_step == kNoStep) return false;
  if (one.resumed && !first.resumed) return false;
  return one.first_step <= (first.resumed_at == kNoStep ? std::max<int64_t>(1, first.first_step) : 1);
}

bool is_supervised(const State& state) {
  return std::any_of(state.attempts.begin(), state.attempts.end(),
                     [](const AttemptState& one) { return one.why == kKeeperBegan; });
}

/// The attempt with which the training began that goes on.
size_t begin_of_training(const State& state) {
  if (!is_supervised(state)) return 0;
  for (size_t i = state.attempts.size(); i-- > 1;)
    if (begins_another(state, i)) return i;
  return 0;
}

std::string_view plain(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// Is `path` that folder, or does it lie below it? One of the two may be relative to a folder that nobody says.
bool within(std::string_view path, std::string_view folder) {
  path = plain(path);
  folder = plain(folder);
  if (path.empty() || folder.empty()) return false;
  if (path == folder || path.starts_with(cat(folder, "/"))) return true;
  if (path.starts_with('/') == folder.starts_with('/')) return false;
  if (path.starts_with('/')) return contains(cat(path, "/"), cat("/", folder, "/"));
  for (std::string_view part = path;; part = part.substr(0, part.rfind('/'))) {
    if (folder.ends_with(cat("/", part))) return true;
    if (!contains(part, "/")) return false;
  }
}

/// One folder, called by one path or by two.
bool same(std::string_view path, std::string_view folder) { return within(path, folder) && within(folder, path); }

/// The folder of checkpoints that the path of a save names: where the checkpoint of that step lies, or, where no part
/// of the path has the step, the path itself. "": it names no folder.
std::string folder_of_save(std::string_view path, int64_t step) {
  path = plain(path);
  for (std::string_view part = path; step != kNoStep && !part.empty();) {
    const std::string_view name = basename(part);
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits < name.size() && parse_int(name.substr(digits)) == step) return std::string(folder_of(part));
    const size_t slash = part.rfind('/');
    part = slash == std::string_view::npos ? std::string_view() : part.substr(0, slash);
  }
  return contains(path, "/") ? std::string(path) : "";
}

/// Was what has that step saved by somebody who is further than the attempt was then, as far as the watch knows? Some
/// log one step in many, and save before they log.
class Beyond {
 public:
  explicit Beyond(const State& state) : state_(state) {
    int64_t before = kNoStep;
    for (const Tick& tick : state.ticks) {
      if (before != kNoStep && tick.step > before) gap_ = std::max(gap_, tick.step - before);
      if (tick.step != kNoStep) before = tick.step;
    }
  }
  bool operator()(int64_t step, Time at) const {
    const auto after = std::upper_bound(state_.ticks.begin(), state_.ticks.end(), at,
                                        [](Time time, const Tick& tick) { return time < tick.at; });
    if (after == state_.ticks.begin()) return false;  // nobody watched
    const int64_t then = std::max<int64_t>(std::prev(after)->step, 0);
    return step > furthest_unlogged(then, 0, gap_);
  }

 private:
  const State& state_;
  int64_t gap_ = 0;  // the widest between two steps that the watch saw
};

/// Nothing shows that it came to its end by itself: what follows may be the same training again.
bool has_failed(const State& state, size_t attempt) {
  const AttemptState& one = state.attempts[attempt];
  if (one.ended && one.ended->how != event::Ended::How::kComplete) return true;
  const auto ended_by = [attempt](const Incident& incident) {
    return incident.latest.attempt == attempt && ends_runs(incident.kind);
  };
  return std::any_of(state.incidents.begin(), state.incidents.end(), ended_by) ||
         std::any_of(state.traces.begin(), state.traces.end(),
                     [attempt](const TraceState& trace) { return trace.moment.attempt == attempt; });
}

}  // namespace

bool begun_within_command(const State& state, size_t attempt) {
  return state.attempts[attempt].why != kKeeperBegan &&
         std::any_of(state.attempts.begin(), state.attempts.begin() + static_cast<ptrdiff_t>(attempt),
                     [](const AttemptState& before) { return before.why == kKeeperBegan; });
}

bool has_finished(const AttemptState& attempt) {
  if (attempt.ended && attempt.ended->how == event::Ended::How::kComplete) return true;
  const int64_t done = attempt.first_step == 0 ? attempt.last_step + 1 : attempt.last_step;
  return attempt.total_steps > 0 && done >= attempt.total_steps;
}

size_t first_of_training(const State& state, size_t attempt) {
  if (!is_supervised(state)) return 0;
  for (size_t i = std::min(attempt, state.attempts.size()); i-- > 0;) {
    const AttemptState& one = state.attempts[i];
    if (has_finished(one)) return i + 1;
    if (i > 0 && begins_anew(one) && begun_within_command(state, i)) return i;
  }
  return 0;
}

EarlierTrainings::EarlierTrainings(const State& state) : state_(state), first_(begin_of_training(state)) {
  if (first_ == 0 && !is_supervised(state)) return;
  note_said(state);
  if (first_ > 0) {
    note_found(state);
  } else if (moves_) {  // as the disk names them
    for (const auto& [moment, seen] : state.checkpoint_scans) {
      if (!is_deleted_by_log(seen)) folders_.try_emplace(folder_of(seen.path));
    }
  }
}

void EarlierTrainings::note_said(const State& state) {
  size_t order = 0;
  for (const auto& [moment, saved] : state.checkpoints) {
    const std::string path = folder_of_save(saved.path, saved.step);
    if (path.empty()) continue;
    Folder& folder = folders_[path];
    Folder::Said& all = folder.all;
    if (all.count++ == 0) {
      all.first = order;
      all.first_attempt = moment.attempt;
      all.first_step = saved.step;
    }
    all.last = order++;
    all.last_attempt = moment.attempt;
    all.last_step = saved.step;
    if (first_ == 0) continue;
    if (moment.attempt < first_) {
      folder.before = moment.attempt;
      if (saved.step != kNoStep) folder.steps.insert(saved.step);
    } else {
      folder.said = true;
    }
  }
  moves_ = folders_.size() > 1;
}

/// An earlier training said that it saves that step there: what is found of it later shows nothing of the next one,
/// whose word of its own saves counts.
bool EarlierTrainings::said_before(std::string_view root, int64_t step) const {
  return std::any_of(folders_.begin(), folders_.end(), [root, step](const auto& one) {
    return one.second.steps.count(step) != 0 && (within(root, one.first) || within(one.first, root));
  });
}

/// What the earlier training saved last is found when the next one has begun: by then that one cannot have come so far.
void EarlierTrainings::note_found(const State& state) {
  const Beyond beyond(state);
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (is_deleted_by_log(seen)) continue;
    Folder& folder = folders_[folder_of(seen.path)];
    if (moment.attempt >= first_ && !beyond(seen.step, moment.at) && !said_before(folder_of(seen.path), seen.step)) {
      folder.found = true;
      continue;
    }
    const size_t by = std::min<size_t>(moment.attempt, first_ - 1);
    folder.before = folder.before == kNone ? by : std::max(folder.before, by);
  }
}

/// The command that the attempt is of went on to another training: it did not end with it.
bool EarlierTrainings::is_over(size_t attempt) const {
  for (size_t i = attempt + 1; i <= first_; ++i) {
    if (state_.attempts[i].why == kKeeperBegan) return false;
    if (begins_another(state_, i)) return true;
  }
  return false;
}

/// Does the training that goes on save, or mean to save, into a folder that does not lie in `root` nor holds it; or one
/// before it meant to save into `root` itself, and it means another folder?
bool EarlierTrainings::saves_elsewhere(std::string_view root, bool said) const {
  const auto apart = [root](std::string_view other) { return !within(other, root) && !within(root, other); };
  for (const auto& [path, folder] : folders_) {
    const bool now = said ? folder.said : folder.found || folder.said;
    if (now && contains(path, "/") && apart(path)) return true;
  }
  std::string_view meant;
  for (size_t i = first_; i < state_.attempts.size(); ++i)
    if (!state_.attempts[i].save_folder.empty()) meant = state_.attempts[i].save_folder;
  const auto end = state_.attempts.begin() + static_cast<ptrdiff_t>(first_);
  const bool was_meant = std::any_of(state_.attempts.begin(), end, [root](const AttemptState& one) {
    return !one.save_folder.empty() && same(one.save_folder, root);
  });
  return contains(meant, "/") && (was_meant ? !same(meant, root) : apart(meant));
}

bool EarlierTrainings::is_one_command(size_t from, size_t to) const {
  for (size_t i = from + 1; i <= to; ++i)
    if (state_.attempts[i].why == kKeeperBegan) return false;
  return true;
}

/// The log names saves in that very folder: what it names in one below it (a second stage) is none of those.
bool EarlierTrainings::says_exactly(std::string_view root) const {
  return std::any_of(folders_.begin(), folders_.end(),
                     [root](const auto& one) { return one.second.all.count > 0 && same(one.first, root); });
}

/// By the log's own words: within one command the run saved there, and then in another folder, at lower steps, and not
/// there any more. A log may count the records of both trainings as one.
bool EarlierTrainings::moved_on(const Folder::Said& from, std::string_view root) const {
  constexpr size_t kSurely = 2;  // saves
  return std::any_of(folders_.begin(), folders_.end(), [&](const auto& one) {
    const Folder::Said& to = one.second.all;
    return to.count >= kSurely && to.first > from.last && to.first_step != kNoStep && to.first_step < from.last_step &&
           (says_exactly(root) ? !same(one.first, root) : !within(one.first, root) && !within(root, one.first)) &&
           is_one_command(from.last_attempt, to.first_attempt);
  });
}

bool EarlierTrainings::left(std::string_view root) const {
  if (!any()) return false;
  Folder all;
  const bool exactly = says_exactly(root);
  for (const auto& [path, folder] : folders_) {
    if (exactly ? !same(path, root) : !within(path, root)) continue;
    if (folder.all.count > 0 && (all.all.count == 0 || folder.all.last > all.all.last)) all.all = folder.all;
    if (folder.before != kNone) all.before = all.before == kNone ? folder.before : std::max(all.before, folder.before);
    all.said = all.said || folder.said;
    all.found = all.found || folder.found;
  }
  if (all.all.count > 0 && moved_on(all.all, root)) return true;
  if (first_ == 0 || all.before == kNone || all.said || !is_over(all.before)) return false;
  if (saves_elsewhere(root, true)) return true;  // its own word is surer than what the disk shows
  if (all.found) return false;
  return saves_elsewhere(root, false) || has_finished(state_.attempts[first_ - 1]) || !has_failed(state_, first_ - 1);
}

/// Between which two ticks of the watch the training changed.
std::pair<Time, Time> EarlierTrainings::change() const {
  if (first_ == 0) return {};
  const auto is_commands = [](const AttemptState& one) { return one.why == kKeeperBegan; };
  const auto end = state_.attempts.begin() + static_cast<ptrdiff_t>(first_) + 1;
  const auto number = static_cast<int64_t>(std::count_if(state_.attempts.begin(), end, is_commands));
  const SupervisedAttempt *own = state_.supervision.attempt(number), *next = state_.supervision.attempt(number + 1);
  if (own == nullptr || !own->started_at.known()) return {};
  std::pair<Time, Time> at;
  const Tick* before = nullptr;
  for (const Tick& tick : state_.ticks) {
    if (tick.step == kNoStep || tick.at < own->started_at) continue;
    if (next != nullptr && next->started_at.known() && tick.at >= next->started_at) break;
    if (before != nullptr && tick.step + kStepRewind < before->step) at = {before->at, tick.at};
    before = &tick;
  }
  return at;
}

Time EarlierTrainings::began() const { return change().second; }

Time EarlierTrainings::last_before() const { return change().first; }

std::set<std::string> EarlierTrainings::folders() const {
  std::set<std::string> all;
  for (const auto& [path, folder] : folders_)
    if (path.starts_with('/') && left(path)) all.insert(path);
  return all;
}

bool EarlierTrainings::has(size_t attempt, const std::string& path) const {
  if (!any()) return false;
  if (contains(path, "/")) {
    for (std::string folder(plain(path)); folder.rfind('/') > 0; folder.resize(folder.rfind('/'))) {
      if (folders_.count(folder) != 0) return left(folder);
      if (!contains(folder, "/")) break;
    }
    return left(folder_of(plain(path)));
  }
  return attempt < first_ && is_over(attempt);
}

}  // namespace mw
