#include "core/checkpoint_trust.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"
#include "core/framework_family.h"

namespace mw {
namespace {

using Read = event::CheckpointRead::How;
using Seen = event::CheckpointSeen::How;
using LastRead = std::pair<Moment, event::CheckpointRead>;

constexpr int64_t kUnlogged = 10;  // steps that may have been trained after the last one in the log
constexpr int64_t kGaps = 2;       // widest gaps between logged steps, likewise

/// What was found up to a time.
class Found {
 public:
  Found(const State& state, Time by) : state_(state), by_(by) {
    for (const LastRead& one : state.checkpoint_reads) {
      if (counts(one.first) && one.second.how != Read::kSkipped) reads_[one.second.path] = &one;
    }
  }

  bool counts(const Moment& moment) const { return !by_.known() || !(moment.at > by_); }
  const LastRead* last_read(std::string_view path) const {
    const auto found = reads_.find(path);
    return found == reads_.end() || saved_anew(*found->second) ? nullptr : found->second;
  }
  const event::CheckpointRead* unsound(std::string_view path) const {
    const LastRead* last = last_read(path);
    const bool wrong = last != nullptr && last->second.how != Read::kSane;
    return wrong ? &last->second : nullptr;
  }
  std::set<int64_t> sane_steps() const {
    std::set<int64_t> steps;
    for (const auto& [path, one] : reads_) {
      if (one->second.step != kNoStep && one->second.how == Read::kSane && !saved_anew(*one))
        steps.insert(one->second.step);
    }
    for (const int64_t step : unsound_steps()) steps.erase(step);
    return steps;
  }
  std::set<int64_t> unsound_steps() const {
    std::set<int64_t> steps;
    for (const auto& [path, one] : reads_) {
      if (one->second.step != kNoStep && unsound(path) != nullptr) steps.insert(one->second.step);
    }
    return steps;
  }

 private:
  /// A scan is recorded where it differs from the last one, or from what was read.
  bool saved_anew(const LastRead& read) const {
    const auto& scans = state_.checkpoint_scans;
    return std::any_of(scans.begin(), scans.end(), [&](const auto& scan) {
      return scan.second.path == read.second.path && counts(scan.first) && scan.first.at > read.first.at;
    });
  }

  const State& state_;
  const Time by_;
  std::map<std::string_view, const LastRead*> reads_;  // the last of each path
};

/// Whether nothing shows what the steps of such records are.
bool only_counts(const State& state) {
  return has_nameless_records(state) && state.total_steps <= 0 && state.checkpoints.empty() && state.progress.empty();
}

/// By its records and its resumes.
int64_t highest_step(const State& state) {
  int64_t highest = kNoStep;
  for (const AttemptState& attempt : state.attempts)
    highest = std::max({highest, attempt.last_step, attempt.resumed_at});
  return highest;
}

/// Is all that was last seen on the disk of the checkpoints of each step broken?
std::set<int64_t> broken_steps(const State& state) {
  std::map<std::string_view, const event::CheckpointSeen*> last;  // by path
  for (const auto& [moment, seen] : state.checkpoint_scans) last[seen.path] = &seen;
  std::set<int64_t> broken, others;
  for (const auto& [path, seen] : last) {
    if (!is_deleted_by_log(*seen)) (seen->how == Seen::kBroken ? broken : others).insert(seen->step);
  }
  for (const int64_t step : others) broken.erase(step);
  return broken;
}

}  // namespace

bool deletes(const Moment& moment, const event::CheckpointSeen& seen, const Moment& saved, std::string_view path) {
  if (saved.attempt > moment.attempt) return false;
  if (saved.attempt == moment.attempt) {
    const bool same_file = saved.where.source == moment.where.source;
    if (same_file ? saved.where.line > moment.where.line
                  : saved.at.known() && moment.at.known() && saved.at > moment.at)
      return false;
  }
  // OpenRLHF keeps best_global_step40 beside global_step40.
  const bool named = contains(cat("/", path, "/"), cat("/", seen.path, "/"));
  return named || seen.path.empty() || !contains(basename(path), std::to_string(seen.step));
}

bool left_whole(const State& state, size_t end, int64_t most, const SaveIsGone& gone) {
  std::optional<std::set<int64_t>> broken;  // made where it is asked for
  const auto counts = [&](const Moment& moment, int64_t step, const std::string& path) {
    if (moment.attempt >= end || (most != kNoStep && step != kNoStep && step > most)) return false;
    if (gone && gone(moment.attempt, step, path)) return false;
    if (!broken) broken = broken_steps(state);
    return broken->count(step) == 0;
  };
  const auto said = [&](const auto& one) {
    return one.second.complete &&
           counts(one.first, one.second.step != kNoStep ? one.second.step : one.first.step, one.second.path);
  };
  const auto found = [&](const auto& one) {
    return one.second.how == Seen::kWhole && counts(one.first, one.second.step, one.second.path);
  };
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), said) ||
         std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), found);
}

const event::CheckpointRead* unsound(const State& state, const std::string& path) {
  return Found(state, {}).unsound(path);
}

std::map<std::string, event::CheckpointRead> unsound_reads(const State& state) {
  std::map<std::string, event::CheckpointRead> out;
  for (const auto& [moment, read] : state.checkpoint_reads) {
    if (read.how == Read::kSkipped) continue;
    if (read.how == Read::kSane) {
      out.erase(read.path);
    } else {
      out[read.path] = read;
    }
  }
  return out;
}

std::set<int64_t> unsound_steps(const State& state) {
  return state.checkpoint_reads.empty() ? std::set<int64_t>() : Found(state, {}).unsound_steps();
}

std::set<int64_t> sane_steps(const State& state) {
  return state.checkpoint_reads.empty() ? std::set<int64_t>() : Found(state, {}).sane_steps();
}

std::optional<SoundCheckpoint> newest_sound(const State& state, int64_t before, Time by) {
  const Found all(state, by);
  std::map<std::string_view, const std::pair<Moment, event::CheckpointSeen>*> last;  // by path
  for (const auto& scan : state.checkpoint_scans) {
    if (all.counts(scan.first)) last[scan.second.path] = &scan;
  }
  std::set<int64_t> bad = all.unsound_steps();
  for (const auto& [path, scan] : last) {
    if (is_unfit(scan->second)) bad.insert(scan->second.step);
  }
  std::optional<SoundCheckpoint> found;
  for (const auto& [path, scan] : last) {
    const event::CheckpointSeen& seen = scan->second;
    if (seen.how != Seen::kWhole || seen.step == kNoStep || bad.count(seen.step) != 0) continue;
    if ((before != kNoStep && seen.step >= before) || (found && seen.step <= found->step)) continue;
    found = SoundCheckpoint{seen.step, seen.path, scan->first.at, false, scan->first.attempt};
  }
  if (!found) return found;
  if (const LastRead* read = all.last_read(found->path); read != nullptr) {
    found->verified = std::max(found->verified, read->first.at);
    found->read = true;
  }
  return found;
}

int64_t furthest_unlogged(int64_t highest, int64_t span, int64_t gap) {
  return highest + std::max(kUnlogged, gap > 0 ? kGaps * gap : span);
}

bool has_nameless_records(const State& state) {
  return is_of_transformers(state.framework) || state.only_counts_records();
}

int64_t furthest_planned(const State& state) {
  int64_t furthest = state.total_steps;
  for (const AttemptState& attempt : state.attempts) {
    const bool trained = attempt.last_step != kNoStep;
    if (trained && attempt.total_steps <= 0) return kNoStep;
    furthest = std::max(furthest, attempt.total_steps);
  }
  if (furthest <= 0) return kNoStep;
  // Some count their last step beyond the plan, as AttemptState::total_steps does not mind either.
  return std::max(furthest + 1, highest_step(state));
}

int64_t furthest_named(const State& state) {
  int64_t furthest = highest_step(state), bar = kNoStep;
  for (const auto& [title, progress] : state.progress) {
    if (progress.total == state.total_steps && progress.total > 0) bar = std::max(bar, progress.done);
  }
  if (has_nameless_records(state) && bar == kNoStep) return kNoStep;
  for (const AttemptState& attempt : state.attempts) {
    if (!attempt.bar.empty()) bar = std::max(bar, attempt.bar.back().done);
  }
  return std::max(furthest, bar);
}

int64_t furthest_saved(const State& state) {
  if (only_counts(state)) return kNoStep;
  const int64_t highest = highest_step(state), planned = furthest_planned(state);
  int64_t lowest = kNoStep, gap = 0;
  for (const AttemptState& attempt : state.attempts) {
    if (attempt.first_step != kNoStep)
      lowest = lowest == kNoStep ? attempt.first_step : std::min(lowest, attempt.first_step);
  }
  if (highest == kNoStep) return kNoStep;
  int64_t before = kNoStep;
  for (const Tick& tick : state.ticks) {
    if (before != kNoStep && tick.step > before) gap = std::max(gap, tick.step - before);
    if (tick.step != kNoStep) before = tick.step;
  }
  const int64_t furthest = furthest_unlogged(highest, lowest == kNoStep ? highest : highest - lowest + 1, gap);
  return planned == kNoStep ? furthest : std::min(furthest, planned);
}

bool is_named_later(std::string_view one, std::string_view other) {
  const std::string_view a = basename(one), b = basename(other);
  constexpr std::string_view kDigits = "0123456789";
  const size_t digits = a.find_last_not_of(kDigits), others = b.find_last_not_of(kDigits);
  if (digits != others || a.substr(0, digits + 1) != b.substr(0, others + 1)) return false;
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

std::optional<SoundCheckpoint> newest_without_step(const State& state, Time before) {
  const Found all(state, {});
  std::map<std::string_view, const std::pair<Moment, event::CheckpointSeen>*> last;  // by path
  for (const auto& scan : state.checkpoint_scans) last[scan.second.path] = &scan;
  std::optional<SoundCheckpoint> found;
  for (const auto& [path, scan] : last) {
    const auto& [moment, seen] = *scan;
    const bool sound = seen.how == Seen::kWhole && !is_unfit(seen) && all.unsound(path) == nullptr;
    if (seen.step != kNoStep || !sound || (before.known() && !(moment.at < before))) continue;
    const bool beside = found && folder_of(found->path) == folder_of(seen.path);
    const bool newer = !found || (beside ? is_named_later(seen.path, found->path) : moment.at > found->verified);
    if (newer) found = SoundCheckpoint{kNoStep, seen.path, moment.at, false, moment.attempt};
  }
  return found;
}

std::optional<DoubtedCheckpoints> only_doubted(const State& state) {
  std::map<std::string_view, const event::CheckpointSeen*> last;  // by path
  for (const auto& scan : state.checkpoint_scans) last[scan.second.path] = &scan.second;
  DoubtedCheckpoints found;
  for (const auto& [path, seen] : last) {
    if (is_gone(*seen)) continue;
    ++found.count;
    if (seen->how == Seen::kBroken) continue;
    if (!is_doubted(*seen)) return std::nullopt;
    const bool newer = seen->step > found.newest.step || is_named_later(seen->path, found.newest.path);
    if (found.newest.path.empty() || newer) found.newest = *seen;
  }
  return found.newest.path.empty() ? std::nullopt : std::optional(std::move(found));
}

std::string doubted_text(const State& state) {
  const auto doubted = only_doubted(state);
  if (!doubted) return "";
  const event::CheckpointSeen& newest = doubted->newest;
  const std::string name = newest.step == kNoStep ? std::string(basename(newest.path)) : cat("step ", newest.step);
  return cat(
      doubted->count == 1 ? std::string("the one checkpoint") : cat("none of the ", doubted->count, " checkpoints"),
      " on the disk is ", doubted->count == 1 ? "not " : "", "proved whole (", name, ": ", newest.doubt, ")");
}

}  // namespace mw
