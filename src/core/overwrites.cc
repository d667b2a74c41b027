#include "core/overwrites.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/detect/tools/track.h"
#include "core/stages.h"
#include "core/trainings.h"

namespace mw {
namespace {

/// Last parts of the names of figures that count all that a run trained, over its restarts.
constexpr std::array<std::string_view, 6> kCounters = {"epoch",       "num_tokens",       "num_input_tokens_seen",
                                                       "global_step", "consumed_samples", "total_tokens"};
/// The first record of an attempt that began from nothing counts about what the run's very first one did: one batch.
constexpr double kOneBatch = 1.5;
constexpr int64_t kSurelyTrains = 3;  // steps with rewards: checks of the set-up before a resume have one or two
constexpr int64_t kFirstSteps = 2;    // where a bar that begins there was begun from nothing

bool counts_all(std::string_view raw) {
  const size_t cut = raw.find_last_of("/.");
  const std::string_view name = cut == std::string_view::npos ? raw : raw.substr(cut + 1);
  return std::find(kCounters.begin(), kCounters.end(), name) != kCounters.end();
}

/// Does a counter go on in the attempt where the run's first one began it far lower?
bool counter_goes_on(const State& state, size_t attempt) {
  return std::any_of(state.series.begin(), state.series.end(), [attempt](const Series& series) {
    if (!counts_all(series.raw)) return false;
    const Point *first = nullptr, *now = nullptr;
    for (const Series::Part& part : series.parts()) {
      if (part.begin == part.end) continue;
      const Point& point = series.points()[part.begin];
      if (part.attempt == attempt) {
        now = now == nullptr ? &point : now;
      } else if (part.attempt < attempt) {
        first = first == nullptr ? &point : first;
      }
    }
    return first != nullptr && now != nullptr && now->value > 0 && now->value > kOneBatch * first->value;
  });
}

std::string_view plain_folder(std::string_view folder) {
  while (folder.starts_with("./")) folder.remove_prefix(2);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return folder;
}

/// Is `path` in `folder`? One of the two may be relative to a folder that nobody says.
bool lies_in(std::string_view path, std::string_view folder) {
  folder = plain_folder(folder);
  if (folder.empty()) return false;
  const std::string within = cat(folder, "/");
  return plain_folder(path).starts_with(within) || contains(path, cat("/", within)) ||
         folder.ends_with(cat("/", plain_folder(folder_of(path))));
}

int64_t step_of(const Moment& moment, const event::CheckpointSaved& saved) {
  return saved.step != kNoStep ? saved.step : moment.step;
}

/// The saves that the attempts before one left, and which of them lie where that one saves.
class Earlier {
 public:
  Earlier(const State& state, size_t attempt)
      : state_(state), end_(attempt), first_(first_of_training(state, attempt)), now_(state.attempts[attempt]) {
    if (first_ == 0) return;
    const auto note = [this](const Moment& moment, const std::string& path) {
      const auto [known, anew] = began_.try_emplace(path, moment.attempt);
      if (!anew) known->second = std::min<size_t>(known->second, moment.attempt);
    };
    for (const auto& [moment, saved] : state.checkpoints) {
      note(moment, saved.path);
      if (moment.attempt >= first_ && moment.attempt < end_) said_.insert(step_of(moment, saved));
    }
    for (const auto& [moment, seen] : state.checkpoint_scans) note(moment, seen.path);
    for (size_t i = first_; i < end_; ++i)
      furthest_ = std::max({furthest_, state.attempts[i].last_step, state.attempts[i].resumed_at});
  }

  /// It lies elsewhere, or nothing shows that a later training of the same command saves where it lies.
  bool is_elsewhere(size_t attempt, int64_t step, const std::string& path) const {
    if (!now_.save_folder.empty() && lies_in(path, now_.save_folder)) return false;
    return lies_in_another(attempt, path) || is_of_another_training(attempt, step, path);
  }

 private:
  /// Some settings name another output: only what is known to hold saves tells.
  bool lies_in_another(size_t attempt, const std::string& path) const {
    if (now_.save_folder.empty()) return false;
    for (size_t i = std::min(attempt + 1, end_); i-- > 0;) {
      const std::string& folder = state_.attempts[i].save_folder;
      if (!folder.empty() && plain_folder(folder) != plain_folder(now_.save_folder) && lies_in(path, folder))
        return true;
    }
    return false;
  }
  /// A save is found on the disk after it was made, when the next training may have begun.
  bool is_of_another_training(size_t attempt, int64_t step, const std::string& path) const {
    if (first_ == 0) return false;
    if (attempt < first_) return true;
    const auto began = began_.find(path);
    if (began != began_.end() && began->second < first_) return true;
    return step != kNoStep && said_.count(step) == 0 && step > furthest_ + 1;
  }

  const State& state_;
  const size_t end_, first_;
  const AttemptState& now_;
  std::map<std::string_view, size_t> began_;  // by path, the first attempt in which it was spoken of
  std::set<int64_t> said_;                    // steps that this training said that it saved
  int64_t furthest_ = kNoStep;                // that this training reached before
};

/// What midwatch decided after the attempt of this number, counted from 1, on what the next one finds.
struct Next {
  int64_t quarantined_from = kNoStep;
  bool from_scratch = false;
};
Next next_after(const SupervisedAttempt& attempt) {
  Next next;
  const auto plan = Json::parse(attempt.plan);
  if (!plan.ok() || !plan->is_object()) return next;
  next.from_scratch = plan->boolean_or("from_scratch", false);
  const Json* moves = plan->find("quarantine");
  const Json* plans = moves != nullptr && moves->is_object() ? moves->find("plans") : nullptr;
  if (plans != nullptr && plans->is_array() && !plans->items().empty())
    next.quarantined_from = moves->integer_or("from", kNoStep);
  return next;
}

/// The furthest step that the attempt is known to have come to.
int64_t reached(const AttemptState& attempt) {
  return attempt.bar.empty() ? attempt.last_step : std::max(attempt.last_step, attempt.bar.back().done);
}

/// The step of the first save that an attempt which begins at the first step makes, by those of the attempts from
/// `first` on: one that began there, too, shows it. Else two saves lie as far apart. 0: not known.
int64_t first_save(const State& state, size_t first, size_t attempt) {
  std::set<int64_t> all, shown;
  const auto note = [&](const Moment& moment, int64_t step) {
    if (moment.attempt < first || moment.attempt >= attempt || step == kNoStep || step <= 0) return;
    all.insert(step);
    const AttemptState& by = state.attempts[moment.attempt];
    if (by.resumed_at == kNoStep && by.first_step != kNoStep && by.first_step <= 1) shown.insert(step);
  };
  for (const auto& [moment, saved] : state.checkpoints) note(moment, step_of(moment, saved));
  for (const auto& [moment, seen] : state.checkpoint_scans) note(moment, seen.step);
  if (!shown.empty()) return *shown.begin();
  if (all.empty()) return 0;
  int64_t least = *all.begin();
  for (auto one = std::next(all.begin()); one != all.end(); ++one) least = std::min(least, *one - *std::prev(one));
  return least;
}

/// Steps between two records of the attempt: what is saved between them is saved before the second is written.
int64_t stride_of(const AttemptState& attempt) { return attempt.first_step == kNoStep ? 1 : attempt.first_step; }

/// It is known to have begun to save.
bool saves_now(const State& state, size_t attempt, const Earlier& earlier) {
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& one) {
    return one.first.attempt == attempt && !earlier.is_elsewhere(attempt, one.second.step, one.second.path);
  });
}

bool trains_with_rewards(const State& state, size_t attempt) {
  const Series* const reward = detect::reward_series(state);
  return reward != nullptr && std::any_of(reward->parts().begin(), reward->parts().end(), [&](const auto& part) {
           return part.attempt == attempt && part.most >= kSurelyTrains;
         });
}

/// The first attempt begins to save where what it was to go on from lies.
bool saves_beside(const State& state, const event::CheckpointSeen& there) {
  const std::string folder = folder_of(there.path);
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& one) {
    return one.first.attempt == 0 && (one.second.path.empty() || lies_in(one.second.path, folder));
  });
}

}  // namespace

bool left_where_it_saves(const State& state, size_t attempt, const SaveIsGone& gone) {
  if (attempt == 0 || attempt >= state.attempts.size()) return false;
  const Earlier earlier(state, attempt);
  return left_whole(state, attempt, kNoStep, [&](size_t by, int64_t step, const std::string& path) {
    return (gone && gone(by, step, path)) || earlier.is_elsewhere(by, step, path);
  });
}

bool saved_where_it_saves(const State& state, size_t attempt) {
  if (attempt == 0 || attempt >= state.attempts.size()) return false;
  const Earlier earlier(state, attempt);
  const auto here = [&](const auto& one) {
    return one.first.attempt < attempt && !earlier.is_elsewhere(one.first.attempt, one.second.step, one.second.path);
  };
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), here) ||
         std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), here);
}

const event::CheckpointSeen* to_go_on_from(const State& state) {
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.what == kToGoOnFrom || seen.what == kToGoOnFromElsewhere) return &seen;
  }
  return nullptr;
}

bool began_beside(const State& state) {
  const event::CheckpointSeen* there = to_go_on_from(state);
  if (there == nullptr || there->step <= kFirstSteps || state.attempts.empty()) return false;
  const AttemptState& first = state.attempts.front();
  if (first.resumed || first.resumed_at != kNoStep || first.first_step == kNoStep || first.first_step > 1) return false;
  // What came first was something else: a later part of the command, or a later attempt, went on from there.
  if (std::any_of(state.attempts.begin() + 1, state.attempts.end(),
                  [](const AttemptState& later) { return later.resumed_at > 0; }))
    return false;
  // One of which nobody knows how it speaks may resume without a word and count anew.
  if (state.framework.empty() || state.framework == "custom") return false;
  return !has_nameless_records(state) || (!first.bar.empty() && first.bar.front().done <= kFirstSteps);
}

bool would_overwrite(const State& state, size_t attempt) {
  if (attempt >= state.attempts.size()) return false;
  if (attempt == 0) {
    if (!began_beside(state)) return false;
    const event::CheckpointSeen& there = *to_go_on_from(state);
    const std::string& folder = state.attempts.front().save_folder;
    return folder.empty() ? there.what == kToGoOnFrom : lies_in(there.path, folder);
  }
  const AttemptState& now = state.attempts[attempt];
  const bool said_before = state.attempts[std::min(first_of_training(state, attempt), attempt - 1)].resumed;
  if (now.resumed_at != kNoStep || (now.resumed && !said_before)) return false;
  if (!left_where_it_saves(state, attempt) || counter_goes_on(state, attempt) || counter_resumes(state, attempt))
    return false;
  std::vector<std::pair<int64_t, int64_t>> moved;  // number of the attempt after which, and from which step on
  bool allowed = false;
  for (const SupervisedAttempt& before : state.supervision.attempts) {
    if (!before.decided || before.number > static_cast<int64_t>(attempt)) continue;
    const Next next = next_after(before);
    allowed = next.from_scratch;
    if (next.quarantined_from != kNoStep) moved.emplace_back(before.number, next.quarantined_from);
  }
  if (allowed) return false;
  return moved.empty() || left_where_it_saves(state, attempt, [&moved](size_t by, int64_t step, const std::string&) {
           return std::any_of(moved.begin(), moved.end(), [&](const auto& one) {
             return static_cast<int64_t>(by) < one.first && step != kNoStep && step >= one.second;
           });
         });
}

bool about_to_overwrite(const State& state, size_t attempt) {
  if (!would_overwrite(state, attempt)) return false;
  if (attempt == 0) return trains_with_rewards(state, 0) || saves_beside(state, *to_go_on_from(state));
  if (may_be_another_stage(state, attempt)) return false;
  const AttemptState& now = state.attempts[attempt];
  if (saves_now(state, attempt, Earlier(state, attempt))) return true;
  const int64_t save = first_save(state, first_of_training(state, attempt), attempt);
  if (save == 0) return true;  // it may come at any time
  // A quarter of the way, as asking a person and ending it take a while.
  const int64_t margin = std::max({int64_t{2}, (save + 3) / 4, stride_of(now) + 1});
  return reached(now) != kNoStep && reached(now) + margin >= save;
}

}  // namespace mw
