#include "core/resume_advice.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/cost.h"
#include "core/crash_cost.h"
#include "core/detect/support/failure_chain.h"
#include "core/incident_kind.h"
#include "core/removals.h"
#include "core/trainings.h"

namespace mw {
namespace {

constexpr size_t kListed = 4;  // suspect steps that are named one by one

struct Saved {
  std::string path;
  bool whole = false, done = true;
  Time at;           // when the log said so, or when it was found whole
  Time began;        // when the log said that the save began: it holds no weights from after that
  Moment said = {};  // the log's line; of no file where its files were found on the disk
};

/// Some trainers say of a save that it began and no more: after so long it is over, if the run goes on no further.
bool began_long_ago(const State& state, const Moment& moment) {
  constexpr double kOver = 1800;  // seconds
  return moment.at.known() && state.last_at.known() && (state.last_at - moment.at).seconds() >= kOver;
}

/// The attempts with whose weights attempt `last` goes on begin with this one.
size_t lineage_of(const State& state, size_t last) {
  size_t first = last;
  // One that does not say from where it goes on, and begins in the middle or got to no step, did not begin anew.
  const auto goes_on = [](const AttemptState& one) {
    return one.resumed_at != kNoStep || one.first_step == kNoStep || one.first_step > 1;
  };
  while (first > 0 && goes_on(state.attempts[first])) --first;
  return first;
}

/// Whose checkpoints are resumed from. Where the last attempt began from nothing and was not meant to, those of the
/// attempts before it, too, which lie further than it came: at lower steps it may have saved over them.
class Lineage {
 public:
  explicit Lineage(const State& state) : first_(first_of_lineage(state)), before_(first_) {
    const size_t last = state.attempts.size() - 1;
    const bool mistaken = std::any_of(state.incidents.begin(), state.incidents.end(), [last](const Incident& one) {
      return one.kind == "restart-from-scratch" && one.open && one.latest.attempt == last &&
             one.severity == Severity::kCritical;
    });
    if (!mistaken || first_ != last || first_ == 0) return;
    before_ = lineage_of(state, first_ - 1);
    reached_ = state.attempts[last].last_step;
  }
  bool has(size_t attempt, int64_t step) const { return attempt >= first_ || (attempt >= before_ && step > reached_); }
  bool from_before() const { return before_ < first_; }

 private:
  size_t first_, before_;
  int64_t reached_ = kNoStep;
};

/// Checkpoints by step: what the log says was saved, and what was found on the disk.
std::map<int64_t, Saved> saved_in(const State& state) {
  std::map<int64_t, Saved> saved;
  std::map<std::pair<size_t, int64_t>, Time> began;  // by attempt and step
  const Lineage lineage(state);
  const EarlierTrainings earlier(state);
  for (const auto& [moment, one] : state.checkpoints) {
    const int64_t step = one.step != kNoStep ? one.step : moment.step;
    if (step == kNoStep || !lineage.has(moment.attempt, step) || left_behind(state, moment.attempt, step)) continue;
    began.try_emplace({moment.attempt, step}, moment.at);
    const bool over = trained_past(state, moment, step) || began_long_ago(state, moment);
    if (one.complete || (over && saved.find(step) == saved.end()))
      saved[step] = {one.path, false, one.complete, moment.at, moment.at, moment};
  }
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.step == kNoStep || !lineage.has(moment.attempt, seen.step)) continue;
    if (earlier.has(moment.attempt, seen.path)) continue;
    if (is_deleted_by_log(seen)) {  // scans come in the order in which they were made
      const auto one = saved.find(seen.step);
      const bool gone = one != saved.end() && deletes(moment, seen, one->second.said, one->second.path);
      if (gone) saved.erase(one);
    } else if (is_unfit(seen) || is_doubted(seen) || is_gone(seen)) {
      saved.erase(seen.step);
    } else if (seen.how == event::CheckpointSeen::How::kWhole) {
      const auto said = began.find({moment.attempt, seen.step});
      saved[seen.step] = {seen.path, true, true, moment.at, said == began.end() ? Time() : said->second};
    }
  }
  const Removals removals(state);
  std::erase_if(saved, [&](const auto& one) { return removals.of(one.second.path, one.second.at).has_value(); });
  for (const int64_t step : unsound_steps(state)) saved.erase(step);
  if (only_doubted(state)) saved.clear();  // what nobody looked at was saved in the same way
  return saved;
}

/// Does what is wrong, in the last attempt, spoil what is saved from its onset on?
bool spoils(const State& state, const Incident& incident) {
  const bool here = incident.open && incident.latest.attempt + 1U >= state.attempts.size();
  const bool ruled = incident.kind == kUserRule && !incident.reaction.empty() && incident.reaction != "ignore";
  const bool bad = ruled || taints(incident.kind) || usual_reaction(incident.kind) == "rollback-before-onset";
  return here && bad && incident.severity != Severity::kInfo && incident.onset.step != kNoStep;
}

/// The step at which the last attempt's weights began to learn from what is wrong.
int64_t onset_in(const State& state) {
  int64_t onset = kNoStep;
  for (const Incident& incident : state.incidents) {
    if (!spoils(state, incident)) continue;
    onset = onset == kNoStep ? incident.onset.step : std::min(onset, incident.onset.step);
  }
  return onset;
}

/// Did a process fail there, and not a figure of that very step, which all that is saved at the step holds?
bool is_of_processes(const State& state, int64_t onset) {
  return std::all_of(state.incidents.begin(), state.incidents.end(), [&state, onset](const Incident& incident) {
    return !spoils(state, incident) || incident.onset.step != onset || ends_runs(incident.kind);
  });
}

/// When that began; unknown where a line of it has no time.
Time onset_at(const State& state, int64_t onset) {
  Time first;
  for (const Incident& incident : state.incidents) {
    if (!spoils(state, incident) || incident.onset.step != onset) continue;
    if (!incident.onset.at.known()) return {};
    if (!first.known() || incident.onset.at < first) first = incident.onset.at;
  }
  return first;
}

/// Where no step of a checkpoint is known: the newest that was found whole, before the onset.
void advise_without_step(const State& state, ResumeAdvice& advice) {
  const Time onset = advice.onset == kNoStep ? Time() : onset_at(state, advice.onset);
  if (advice.onset != kNoStep && !onset.known()) return;
  const auto newest = newest_without_step(state, onset);
  if (!newest) return;
  advice.path = newest->path;
  advice.whole = true;
  advice.work_s = work_since(state, newest->verified);
}

/// What is learnt got worse since then, though no data is known to be poisoned: whether to go back to before it is for
/// a person to decide.
constexpr std::array<std::string_view, 8> kTurns = {"reward-collapse", "entropy-collapse", "entropy-explosion",
                                                    "kl-runaway",      "length-collapse",  "degenerate-output",
                                                    "policy-mismatch", "reward-hacking"};

void find_turn(const State& state, const std::map<int64_t, Saved>& saved, ResumeAdvice& advice) {
  for (const Incident& incident : state.incidents) {
    const bool here = incident.open && incident.latest.attempt + 1U >= state.attempts.size();
    const bool turn = std::find(kTurns.begin(), kTurns.end(), incident.kind) != kTurns.end();
    const int64_t step = incident.onset.step;
    if (!here || !turn || incident.severity == Severity::kInfo || step == kNoStep || step > advice.step) continue;
    if (step <= state.attempts.back().first_step || (advice.turned != kNoStep && advice.turned <= step)) continue;
    advice.turn = incident.kind;
    advice.turned = step;
  }
  for (const auto& [step, one] : saved) {
    if (step >= advice.turned) continue;
    advice.before = step;
    advice.before_path = one.whole ? one.path : "";
  }
}

/// Did the run end before it was done?
bool cut_short(const State& state) {
  if (state.verdict == "crashed" || state.verdict == "stalled" || state.verdict == "ended-early") return true;
  const int64_t last = state.attempts.back().last_step;
  const bool open = state.total_steps <= 0 || last < state.total_steps;
  return open && (state.verdict == "interrupted" ||
                  std::any_of(state.incidents.begin(), state.incidents.end(), [](const Incident& incident) {
                    return incident.open && incident.kind == "died-silently" && incident.severity != Severity::kInfo;
                  }));
}

/// The last step that the last attempt really did: one that only began cannot be lost.
int64_t last_done(const State& state) {
  const int64_t done = detect::last_done(state, state.attempts.size() - 1);
  if (done != kNoStep) return done;
  const AttemptState& last = state.attempts.back();
  return last.resumed_at != kNoStep ? last.resumed_at : last.last_step;
}

/// What resume_advice() says once there is trouble.
std::optional<ResumeAdvice> advise(const State& state) {
  if (state.attempts.empty() || (state.checkpoints.empty() && state.checkpoint_scans.empty())) return std::nullopt;
  ResumeAdvice advice;
  const int64_t begun = state.attempts.back().last_step;
  advice.last = begun == kNoStep ? kNoStep : last_done(state);
  advice.onset = onset_in(state);
  if (advice.last == kNoStep) return std::nullopt;
  const std::map<int64_t, Saved> all = saved_in(state);
  const Time began = advice.onset == kNoStep ? Time() : onset_at(state, advice.onset);
  const bool by_process = advice.onset != kNoStep && is_of_processes(state, advice.onset);
  const int64_t furthest = furthest_saved(state);  // one may be saved before the log names its step
  int64_t reached = std::max(begun, advice.last);
  if (Lineage(state).from_before())
    for (const AttemptState& attempt : state.attempts) reached = std::max(reached, attempt.last_step);
  for (const auto& [step, saved] : all) {
    const Time since = by_process && saved.began.known() ? std::min(saved.began, saved.at) : saved.at;
    const bool in_time = step == advice.onset && since.known() && since < began;
    if (advice.onset != kNoStep && step >= advice.onset && !in_time) {
      advice.suspect.push_back(step);
    } else if (saved.whole ? furthest == kNoStep || step <= furthest : step <= reached) {
      advice.step = step;
      advice.path = saved.path;
      advice.whole = saved.whole;
      advice.done = saved.done;
    }
  }
  if (advice.step != kNoStep) find_turn(state, all, advice);
  advice.work_s = work_since(state, advice.step);
  if (advice.step == kNoStep) advise_without_step(state, advice);
  advice.cost_per_hour = cost_per_hour(state);
  advice.verified = verified_text(state);
  const size_t first = first_of_lineage(state);
  if (advice.step == kNoStep && first > 0 && newest_sound(state)) advice.anew = first + 1;
  return advice;
}

/// What is learnt got critically worse, and the checkpoint at the peak lies whole on the disk: that is the one to
/// resume from, though the run has not ended short of its plan.
bool is_past_peak(const State& state, const ResumeAdvice& advice) {
  return !advice.before_path.empty() &&
         std::any_of(state.incidents.begin(), state.incidents.end(), [&advice](const Incident& one) {
           return one.open && one.severity == Severity::kCritical && one.kind == advice.turn &&
                  one.onset.step == advice.turned;
         });
}

std::string listed(const std::vector<int64_t>& steps) {
  if (steps.size() == 1) return cat("step ", steps.front(), " is suspect");
  if (steps.size() > kListed)
    return cat("the ", steps.size(), " of steps ", steps.front(), " to ", steps.back(), " are suspect");
  std::string out = "steps ";
  for (size_t i = 0; i < steps.size(); ++i) out += cat(i == 0 ? "" : i + 1 == steps.size() ? " and " : ", ", steps[i]);
  return out + " are suspect";
}

}  // namespace

size_t first_of_lineage(const State& state) { return lineage_of(state, state.attempts.size() - 1); }

bool left_behind(const State& state, size_t attempt, int64_t step) {
  for (size_t later = attempt + 1; later < state.attempts.size(); ++later) {
    const int64_t from = state.attempts[later].resumed_at;
    if (from != kNoStep && from < step) return true;
  }
  return false;
}

bool trained_past(const State& state, const Moment& moment, int64_t step) {
  return moment.attempt < state.attempts.size() && state.attempts[moment.attempt].last_step > step;
}

std::optional<ResumeAdvice> resume_advice(const State& state) {
  auto advice = advise(state);
  if (!advice || advice->onset != kNoStep || cut_short(state)) return advice;
  if (!is_past_peak(state, *advice)) return std::nullopt;
  advice->step = advice->before;
  advice->path = advice->before_path;
  advice->whole = advice->done = true;
  advice->work_s = work_since(state, advice->step);
  return advice;
}

ResumeGrounds resume_grounds(const State& state) {
  ResumeGrounds out;
  std::map<int64_t, size_t> last;  // by step, the attempt that saved it last
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.step != kNoStep && !is_gone(seen)) last[seen.step] = moment.attempt;
  }
  for (const auto& [moment, one] : state.checkpoints) {
    if (one.complete && one.step != kNoStep) last[one.step] = moment.attempt;
  }
  for (const auto& [step, attempt] : last) {
    if (left_behind(state, attempt, step)) out.left_behind.insert(step);
  }
  if (state.attempts.empty()) return out;
  out.onset = onset_in(state);
  for (const Incident& incident : state.incidents) {
    if (out.onset != kNoStep && incident.onset.step == out.onset && spoils(state, incident)) out.kind = incident.kind;
  }
  const auto advice = advise(state);
  if (!advice) return out;
  out.turned = advice->turned;
  out.turn = advice->turn;
  if (out.onset == kNoStep && !cut_short(state)) return out;
  out.advised = advice->step;
  if (advice->step != kNoStep && advice->step == out.onset) out.in_time.insert(advice->step);
  return out;
}

std::string to_sentence(const ResumeAdvice& advice) {
  std::string out;
  if (advice.step == kNoStep && !advice.path.empty()) {
    out = cat("Resume from ", advice.path, " (whole on disk; at which step it was saved is not known)");
  } else if (advice.step == kNoStep) {
    out = !advice.suspect.empty() ? cat("No checkpoint from before step ", advice.onset, " was seen")
          : advice.anew > 0       ? cat("Attempt ", advice.anew, " began from nothing and saved no checkpoint")
                                  : std::string("No checkpoint to resume from was seen");
  } else {
    out = cat("Resume from step ", advice.step,
              advice.whole  ? " (whole on disk)"
              : advice.done ? " (saved, by the log)"
                            : " (its save began, by the log)");
  }
  if (advice.turned != kNoStep) {
    out += cat(
        "; ", advice.turn, " began ", advice.turned < advice.step ? "before it, at step " : "at step ", advice.turned,
        advice.before == advice.step
            ? std::string()
            : cat(" (", advice.before != kNoStep ? cat("step ", advice.before, " is the newest from before that)")
                                                 : "no checkpoint from before that was seen)"));
  }
  if (!advice.suspect.empty()) out += cat("; ", listed(advice.suspect));
  const std::string work = work_text(advice.work_s, advice.cost_per_hour);
  if (advice.step != kNoStep && advice.last > advice.step) {
    out += cat("; ", advice.last - advice.step, " of ", advice.last, advice.last == 1 ? " step is" : " steps are",
               " lost", work.empty() ? "" : ", ", work);
  } else if (advice.step == kNoStep && !work.empty()) {
    out += cat("; ", work, " is lost");
  }
  if (!advice.verified.empty()) out += cat("; ", advice.verified);
  return out + ".";
}

}  // namespace mw
