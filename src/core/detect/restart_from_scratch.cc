// Began again at the first step although an earlier attempt had got further.
#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/progress.h"
#include "core/detect/support/two_writers.h"
#include "core/detect/tools/track.h"
#include "core/framework_family.h"
#include "core/overwrites.h"
#include "core/stages.h"
#include "core/trainings.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"lost_least", 2, "steps", "An attempt that died on its first step has nothing to lose by starting again",
     "report skyrl-biomni-monitor-cycles-2026-02-19"},
    {"lost_hours", 2, "h",
     "Where nothing but a counter went back: so much time is worth a person's look; phases and evaluations are shorter",
     "as zero-reward, early_hours"},
};

constexpr std::string_view kCounterWentBack = "step counter went back";  // as attempts.cc says it

/// One that logs every tenth step names no first one: where midwatch began it, a step before all that earlier attempts
/// left shows it, too.
bool from_the_start(const State& state, size_t number, const Done& done) {
  const AttemptState& attempt = state.attempts[number];
  if (attempt.resumed_at != kNoStep || done.first == kNoStep) return false;
  if (done.first <= 1) return !counter_resumes(state, number) && !may_be_another_stage(state, number);
  return attempt.why == kKeeperBegan && !left_whole(state, number, done.first) && would_overwrite(state, number);
}

bool was_complete(const AttemptState& attempt, int64_t done) {
  if (attempt.ended && attempt.ended->how == event::Ended::How::kComplete) return true;
  return attempt.total_steps > 0 && done + 1 >= attempt.total_steps;
}

/// "Starting GRPO training": what a pipeline says as one of its trainings begins (knowledge/dialects/launcher.toml).
bool names_a_training(std::string_view why) {
  const std::string text = to_lower(why);
  constexpr std::array<std::string_view, 4> kBegins = {"starting ", "beginning ", "launching ", "running "};
  constexpr std::array<std::string_view, 5> kWhat = {"training", "tuning", "phase", "stage", "up"};
  const auto begins = [&text](std::string_view word) { return text.starts_with(word); };
  const auto ends = [&text](std::string_view word) { return text.ends_with(word); };
  return std::any_of(kBegins.begin(), kBegins.end(), begins) && std::any_of(kWhat.begin(), kWhat.end(), ends);
}

/// Does this attempt begin a training of another name than the one before did? One that is tried again says the same.
bool is_next_stage(const State& state, size_t before, size_t attempt) {
  const std::string &was = state.attempts[before].why, &is = state.attempts[attempt].why;
  if (!names_a_training(is)) return false;
  return was.empty() || (names_a_training(was) && to_lower(was) != to_lower(is));
}

/// The one before did all that it was to do, and this one is to do something else: another job of one script. A script
/// that midwatch runs is known not to have ended meanwhile.
bool is_other_job(const State& state, size_t before, size_t attempt, bool finished) {
  if (finished && is_next_stage(state, before, attempt)) return true;
  if (first_of_training(state, attempt) > before && !left_where_it_saves(state, attempt)) return true;
  const int64_t was = state.attempts[before].total_steps, is = state.attempts[attempt].total_steps;
  return finished && was > 0 && is > 0 && was != is;
}

/// A counter that begins again after equally many steps each time, with no sign of a new process, counts within epochs.
bool counts_epochs(const State& state) {
  size_t equal = 0;
  int64_t length = kNoStep;
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    if (attempt.last_step == kNoStep) continue;
    if (length != kNoStep && attempt.why != kCounterWentBack) return false;
    if (attempt.last_step == length) ++equal;
    length = attempt.last_step;
  }
  return equal >= 2;
}

/// Only a counter says that something began again: no word of a new start, no end of what went before. Counters within
/// an epoch, a phase or an evaluation, files that several runs share and unsorted exports go back in the same way.
bool only_a_counter(const State& state, size_t attempt) {
  if (state.attempts[attempt].why != kCounterWentBack) return false;
  return !state.attempts[attempt - 1].ended.has_value();
}

/// By the clock hours of unfinished work lie before the counter's fall.
bool costs_hours(const State& state, size_t attempt, bool finished) {
  const AttemptState& before = state.attempts[attempt - 1];
  if (finished || !before.began.at.known() || !before.last.at.known()) return false;
  return (before.last.at - before.began.at).seconds() >= 3600 * kKnobs[1].value;
}

/// Is it known of a run that is watched, and not only read afterwards, that its saves are about to be written over?
bool loses_saves(const State& state, size_t attempt) {
  const bool scanned = std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(),
                                   [](const auto& scan) { return !is_deleted_by_log(scan.second); });
  const bool watched = state.attempts[attempt].why == kKeeperBegan || scanned;
  return watched && would_overwrite(state, attempt);
}

/// As midwatch counts them where it began the command itself: what a command trains one after the other is one attempt.
size_t number_of(const State& state, size_t attempt) {
  const auto end = state.attempts.begin() + static_cast<ptrdiff_t>(attempt) + 1;
  const auto begun =
      std::count_if(state.attempts.begin(), end, [](const AttemptState& one) { return one.why == kKeeperBegan; });
  return begun > 0 ? static_cast<size_t>(begun) : attempt + 1;
}

/// "Attempt 2 began at step 1 although attempt 1 had reached step 20".
std::string what_began(const State& state, size_t attempt, int64_t first, size_t before, bool finished, int64_t last) {
  const size_t is = number_of(state, attempt), was = number_of(state, before);
  return cat("Attempt ", is, is == was ? " began again at step " : " began at step ", first, " although ",
             is == was ? "it" : cat("attempt ", was), finished ? " had finished at step " : " had reached step ", last);
}

/// The first attempt found a checkpoint to go on from, and did not.
void judge_first(const State& state, std::vector<Finding>& out) {
  if (!began_beside(state)) return;
  const event::CheckpointSeen& there = *to_go_on_from(state);
  const AttemptState& attempt = state.attempts.front();
  const bool danger = would_overwrite(state, 0), near = about_to_overwrite(state, 0);
  Finding finding;
  finding.kind = finding.detector = "restart-from-scratch";
  finding.severity = near ? Severity::kCritical : Severity::kWarning;
  finding.onset = attempt.began;
  finding.onset.step = attempt.first_step;
  finding.detected = first_record(state, 0, attempt.first_step);
  finding.summary = cat("Attempt 1 began at step ", attempt.first_step, " although the checkpoint of step ", there.step,
                        " was there to go on from (", there.path, ")",
                        danger ? ", which it would save over" : "; what it saves is not shipped over it");
  finding.evidence.push_back({attempt.began.where, attempt.why, "", kNoStep, 0});
  finding.suggests.push_back({"resume-silently-from-scratch", 0.5, "no checkpoint was loaded"});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  judge_first(state, out);
  const bool epochs_show = is_of_transformers(state.framework);
  if (counts_epochs(state) || (!epochs_show && state.only_counts_records())) return;
  int64_t furthest = kNoStep;
  size_t furthest_attempt = 0;
  size_t restarts = 0;
  bool jobs = false;  // the log goes from one finished job to the next, as a sweep's does
  Finding finding;
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    const bool lost = furthest != kNoStep && static_cast<double>(furthest) >= kKnobs[0].value;
    const Done done = done_in(state, i);
    if (i > 0 && lost && done.first < furthest && from_the_start(state, i, done)) {
      const bool finished = was_complete(state.attempts[furthest_attempt], furthest);
      jobs = jobs || (finished && only_a_counter(state, i));
      // Of unfinished work nothing could be resumed where nothing is saved: that is worth a warning only for its hours.
      const bool saves = saved_where_it_saves(state, i);
      const bool sure =
          ((saves || finished) && !(only_a_counter(state, i) || (finished && jobs))) || costs_hours(state, i, finished);
      const bool whole = left_where_it_saves(state, i);
      const bool danger = sure && whole && loses_saves(state, i);
      const bool near = danger && about_to_overwrite(state, i);  // until then nothing is lost but time
      const Severity severity = near ? Severity::kCritical : sure ? Severity::kWarning : Severity::kInfo;
      if (is_other_job(state, furthest_attempt, i, finished)) {
        furthest = kNoStep;  // its own steps count from here on
      } else if (++restarts == 1 || severity > finding.severity || danger) {
        finding = {};
        finding.kind = "restart-from-scratch";
        finding.detector = "restart-from-scratch";
        finding.severity = severity;
        finding.onset = attempt.began;
        finding.onset.step = done.first;
        finding.detected = first_record(state, i, done.first);
        finding.summary = cat(what_began(state, i, done.first, furthest_attempt, finished, furthest),
                              danger  ? " and had saved checkpoints, which it would save over"
                              : whole ? " and had saved checkpoints"
                              : saves ? ""
                                      : "; no save was seen in it");
        finding.evidence.push_back({attempt.began.where, attempt.why, "", kNoStep, 0});
        if (finished) finding.suggests.push_back({"autoretry-crash-loop", 0.6, "the finished work was started again"});
        if (saves || sure)
          finding.suggests.push_back({"resume-silently-from-scratch", 0.5, "no checkpoint was loaded"});
        // Where nothing was saved nothing could be resumed: once the steps are done again, all is made good.
        if (!finished && !whole && done.last >= furthest) {
          finding.resolved = true;
          finding.resolved_at = first_record(state, i, furthest);
        }
      }
    }
    if (done.last != kNoStep && done.last > furthest) {
      furthest = done.last;
      furthest_attempt = i;
    }
  }
  // Of two runs that write to one file the later one is none that went back.
  if (restarts > 0 && two_writers(state).count(finding.onset.where.source) == 0) out.push_back(std::move(finding));
}

}  // namespace

extern const Detector restart_from_scratch;
const Detector restart_from_scratch{"restart-from-scratch",
                                    "An attempt begins at the first step although an earlier one had got further.",
                                    {"restart-from-scratch"},
                                    kKnobs,
                                    judge};

}  // namespace mw::detect
