// Alive without progress: lines keep coming, steps do not.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/components.h"
#include "core/counters.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/pause.h"
#include "core/detect/support/rhythm.h"
#include "core/detect/support/sooner.h"
#include "core/detect/support/work.h"
#include "core/exit_status.h"
#include "core/idle_line.h"
#include "core/judge_memory.h"
#include "core/plan_bar.h"

namespace mw::detect {
namespace {

constexpr Knob kOwnPeriods{"own_periods", 10, "usual steps",
                           "A step ten times as long as the run's own median is no slow step any more",
                           "failure catalogue, hang against slow-step"};
constexpr Knob kLeast{"least_seconds", 1800, "s", "Evaluation, saving and start-up may each take this long",
                      "report skyrl-biomni-monitor-cycles-2026-02-19: saves of 22 min"};
constexpr Knob kSteps{"steps_least", 5, "steps", "Fewer steps have no rhythm", "own choice"};
constexpr Knob kLongest{"longest_gaps", 2, "longest gaps",
                        "What the run has taken once between two steps it may take again",
                        "evaluations and saves come back; own choice"};
constexpr Knob kQuiet{"quiet_share", 0.5, "of the patience",
                      "A run that still says something besides its servers may be at a long step",
                      "runs of an agent whose batch takes 38 min; own choice"};
constexpr Knob kTalks{"talks_long", 3, "times the patience", "By then talk without a step is suspicious", "own choice"};
constexpr Knob kGap{"gap", 100, "usual steps",
                    "A step that took so much longer and ended is worth a line: the machine slept, or something hung",
                    "evaluations and slow saves of real runs reach 40"};
constexpr Knob kGapAfter{"gap_after", 20, "steps",
                         "The first steps compile and warm up: before that a run has no usual step", "own choice"};
constexpr Knob kPhase{"phase", 0.5, "of the time since the last step",
                      "An evaluation or a save that the log times was work for so long", "own choice"};
constexpr Knob kBetween{"between", 3, "lines", "What begins with the end and what was said just before it",
                        "own choice"};
constexpr Knob kTeardown{"teardown", 900, "s", "What ends a run writes within this time after its first word of it",
                         "own choice"};
constexpr Knob kKnobs[] = {
    kOwnPeriods, kLeast,    kSteps,          kLongest,          kQuiet,          kTalks,          kPhase,    kGap,
    kGapAfter,   kRegular,  kWitnessPeriods, kWitnessLeast,     kWitnessLongest, kWorked,         kRests,    kNoWork,
    kGpuWorks,   kSpinBusy, kSpinMemory,     kSpinMemoryBefore, kSpinPower,      kSpinProcessors, kSpinEach, kBetween,
    kTeardown,   kAnnounced};

constexpr double kArrival = 60;  // s from the last line on, within which who watches must have come

/// When the run last logged anything.
struct End {
  Time at;
  bool idle = true;  ///< what it said then is no work: probes of its servers, or what the reading knows well
};

End end_of(const State& state, const Knowledge& knowledge, const Standstill& watched, Time since) {
  End end;
  for (const SourceState& source : state.sources) {
    if (source.kind == kHostKind) continue;
    if (source.last_at > end.at) end = {source.last_at, true};
    if (!source.end_at.known() || (end.at.known() && source.end_at <= end.at)) continue;
    end = {source.end_at,
           is_idle_line(source.last_text, knowledge)};  // saving and evaluating may take long after the last step
  }
  // A watch counts what it saw of the silence: what was over long before it came is none that lasts until now.
  if (!watched.since.known()) return end;
  const bool was_there = watched.since <= end.at + Duration::seconds(kArrival);
  const Time seen = (was_there ? watched.since : since) + Duration::seconds(watched.seconds);
  if (seen > end.at) end = {seen, true};
  return end;
}

/// The end of the last phase that took most of the time since then: an evaluation of an hour is no standstill.
Time work_since(const State& state, Time since) {
  Time end = since;
  for (const auto& [name, phase] : state.phases) {
    for (const Point& done : phase.ends) {
      const double passed = done.at.known() ? (done.at - since).seconds() : 0;
      if (passed > 0 && done.value >= kPhase.value * passed) end = std::max(end, done.at);
    }
  }
  return end;
}

/// Seconds of evaluating and saving that the records of the two steps name.
double work_named(const State& state, int64_t from, int64_t to) {
  double seconds = 0;
  for (const std::string_view signal : {"time.eval", "time.save"}) {
    const Series* const series = state.find(signal);
    if (series == nullptr) continue;
    double most = 0;  // a record is of what came before it or of what comes after
    for (const Point& point : series->points()) {
      if ((point.step == from || point.step == to) && std::isfinite(point.value)) most = std::max(most, point.value);
    }
    seconds += most;
  }
  return seconds;
}

/// A step in the past that took far too long and ended. A live watch has reported it when it happened.
void judge_gap(const State& state, const Rhythm& rhythm, std::vector<Finding>& out) {
  if (!state.ticks.empty() || !rhythm.known()) return;
  double in_turn = 0;
  int64_t stride = 1;  // a run may log every tenth step, or count what its environment did
  for (size_t i = 1; i < state.anchors.size(); ++i) {
    const auto& [before, from] = state.anchors[i - 1];
    const auto& [after, to] = state.anchors[i];
    in_turn = to == from + stride ? in_turn + 1 : 0;
    if (to > from) stride = to - from;
    const double most = std::max(kLeast.value, kGap.value * rhythm.usual * static_cast<double>(stride));
    if (in_turn <= kGapAfter.value || (after - before).seconds() < most) continue;
    if (restarted_between(state, before, after)) continue;
    if (work_named(state, from, to) >= kPhase.value * (after - before).seconds()) continue;
    const auto attempt = static_cast<uint16_t>(state.attempts.size() - 1);
    Finding finding;
    finding.kind = finding.detector = "stall";
    finding.onset = {from, before, {}, attempt};
    finding.detected = {to, after, {}, attempt};
    finding.resolved = true;
    finding.resolved_at = finding.detected;
    const double usual = rhythm.usual * static_cast<double>(stride);
    finding.summary =
        cat(stride == 1 ? cat("Step ", to) : cat("Steps ", from, " to ", to), " took ", format_duration(after - before),
            stride == 1 ? " where a step usually takes " : " where as many usually take ",
            format_duration(Duration::seconds(usual)), "; then the run went on");
    finding.suggests.push_back({"hang-no-progress-generic", 0.4, "one step took far longer than any other, and ended"});
    finding.suggests.push_back({"provider-instance-paused-outbid", 0.3, "a machine that was stopped looks like this"});
    out.push_back(std::move(finding));
    return;
  }
}

/// Stopped from outside: by a person, a scheduler, or midwatch.
bool was_stopped(const State& state, const Knowledge& knowledge, JudgeMemory& memory, size_t number) {
  for (const FailureChain& chain : memory.chains(state, knowledge)) {
    if (chain.attempt == number) return chain.kind == "interrupted" || chain.kind == "preempted";
  }
  using How = event::Ended::How;
  const auto& ended = state.attempts[number].ended;
  return ended && (ended->how == How::kInterrupted || ended->how == How::kStopped);
}

/// A person held it still meanwhile, or anybody its processes.
bool was_held(const State& state, const AttemptState::Quiet& quiet) {
  return stopped_by_somebody(state) != nullptr ||
         std::any_of(state.actions.begin(), state.actions.end(), [&quiet](const auto& one) {
           return one.intent.action == "pause" && one.at >= quiet.since && one.at < quiet.until;
         });
}

/// Nobody said anything between the two lines, and nothing that takes long by design was announced.
bool says_nothing(const State& state, const AttemptState::Quiet& quiet, uint16_t attempt) {
  const bool next = quiet.before.source == quiet.after.source && quiet.after.line >= quiet.before.line &&
                    quiet.after.line - quiet.before.line <= static_cast<uint64_t>(kBetween.value);
  if (!next) return false;
  for (const SourceState& source : state.sources) {
    if (source.kind != kHostKind && source.last_at > quiet.since && source.last_at < quiet.until) return false;
  }
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt == attempt && !saved.complete && moment.at.known() && moment.at <= quiet.since &&
        (quiet.since - moment.at).seconds() < kLeast.value)
      return false;  // it was saving
  }
  return announced_phase(state, attempt, quiet.since) == nullptr;
}

/// What its processes did while it said nothing, in words, where that shortens the patience.
std::string_view rested(const State& state, const AttemptState& attempt, const AttemptState::Quiet& quiet) {
  const Time late = quiet.until + Duration::seconds(-1);
  const Work work = work_at(state, attempt.began.at, quiet.since, late);
  if (work.does == Work::Does::kSpins) return " while its GPUs spun as in a collective that waits for a peer";
  const bool nothing = work.does == Work::Does::kNothing && work.before >= kWorked.value;
  return nothing ? " while its processes did next to nothing" : "";
}

/// By the time of its steps alone, in seconds.
double patience_of(const Rhythm& rhythm) {
  return std::max({kLeast.value, kOwnPeriods.value * rhythm.usual, kLongest.value * rhythm.longest});
}

/// A step in the past that did not end before somebody ended the attempt.
void judge_end(const State& state, const Knowledge& knowledge, JudgeMemory& memory, size_t number,
               std::vector<Finding>& out) {
  const AttemptState& attempt = state.attempts[number];
  const AttemptState::Quiet& quiet = attempt.quiet;
  const double seconds = (quiet.until - quiet.since).seconds();
  if (!quiet.since.known() || seconds < kWitnessLeast.value) return;  // most attempts
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  const bool at_the_end = (attempt.last.at - quiet.until).seconds() <= kTeardown.value;
  if (!at_the_end || (total > 0 && attempt.last_step + 1 >= total)) return;
  const Rhythm rhythm = rhythm_of(state, quiet.since, kSteps.value);
  const auto index = static_cast<uint16_t>(number);
  if (!rhythm.known() || !says_nothing(state, quiet, index) || said_done(state, knowledge, number)) return;
  if ((work_since(state, quiet.since) - quiet.since).seconds() > 0) return;
  if (was_held(state, quiet) || !was_stopped(state, knowledge, memory, number)) return;
  const std::string_view rests = rested(state, attempt, quiet);
  const bool witnessed = !rests.empty() && static_cast<double>(rhythm.gaps) >= kRegular.value;
  const double patience = witnessed ? witnessed_patience(rhythm.usual, rhythm.longest) : patience_of(rhythm);
  if (seconds < patience) return;
  Finding finding;
  finding.kind = finding.detector = "stall";
  finding.severity = total > 0 ? Severity::kCritical : Severity::kWarning;
  finding.onset = {attempt.last_step, quiet.since, {}, index};
  finding.detected = {attempt.last_step, quiet.since + Duration::seconds(patience), {}, index};
  finding.resolved = number + 1 < state.attempts.size();
  if (finding.resolved) finding.resolved_at = {attempt.last_step, quiet.until, quiet.after, index};
  finding.summary =
      cat("No step after ", attempt.last_step, " for ", format_duration(quiet.until - quiet.since), rests,
          ", until it was stopped; a step usually takes ", format_duration(Duration::seconds(rhythm.usual)),
          total > 0 ? "" : "; no plan says that more was to come: it may have been done");
  finding.suggests.push_back({"hang-no-progress-generic", 0.5, "neither steps nor lines came"});
  out.push_back(std::move(finding));
}

/// The last step that the run is known to have done, when that was, and how long its steps take.
struct Stand {
  Time at;
  int64_t step = kNoStep;
  Rhythm rhythm;
};

/// By the progress bar of the last attempt and the clocks of the lines around it. A clock that was set meanwhile, or a
/// bar that was continued, fits no begin of the bar: nothing is known then.
Stand stand_by_bar(const State& state) {
  const AttemptState& attempt = state.attempts.back();
  if (attempt.bar.empty()) return {};
  const Rhythm rhythm = rhythm_by_bar(state, kSteps.value);
  const BarBegun begun = bar_begun(state, attempt);
  if (!rhythm.known() || !begun.not_after.known()) return {};  // what loads before the bar begins may take an hour
  if (begun.not_after + Duration::seconds(rhythm.usual) < begun.not_before) return {};
  const AttemptState::BarMark& last = attempt.bar.back();
  const int64_t step = attempt.first_step == 0 ? last.done - 1 : last.done;  // its records count from 0
  if (step < attempt.last_step) return {};
  return {std::max(begun.not_before, begun.not_after) + Duration::seconds(last.elapsed), step, rhythm};
}

/// By the clocks of its records; where these have none, or end before the bar over its steps does, by that.
Stand stand_of(const State& state) {
  Stand stand;
  if (!state.anchors.empty()) {
    const auto& [at, step] = state.anchors.back();
    stand = {at, step, rhythm_of(state, at, kSteps.value)};
  }
  const Stand bar = state.closed ? stand_by_bar(state) : Stand{};  // a live watch has the machine's clock
  return bar.step != kNoStep && (!stand.rhythm.known() || bar.step > stand.step) ? bar : stand;
}

/// "; rollouts stands at 37 of 128 since 2h 05m", of a counter that the step had set going; "" of none.
std::string stands_at(const std::pair<const std::string, Counter>* counter, Time now) {
  if (counter == nullptr) return "";
  const auto& [what, at] = *counter;
  return cat("; its count of \"", clip(what, 60), "\" has stood at ", at.done, " of ", at.total, " for ",
             format_duration(now - at.moved));
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  if (state.attempts.empty()) return;
  const auto [at, step, rhythm] = stand_of(state);
  if (!at.known()) return;
  judge_gap(state, rhythm, out);
  for (size_t i = 0; i < state.attempts.size(); ++i) judge_end(state, knowledge, memory, i, out);
  const AttemptState& attempt = state.attempts.back();
  if (is_paused(state) || stopped_by_somebody(state) != nullptr) return;  // component-down reports what is stopped
  const Standstill watched = standstill(state);
  const bool live = !state.closed && watched.since.known();  // then the machine's clock counts, whatever the log's zone
  const Time since = std::max(live ? watched.since : work_since(state, at), last_set_going(state));
  const double usual = rhythm.usual;
  const End end = live ? End{state.ticks.back().at, true} : end_of(state, knowledge, watched, since);
  if (usual <= 0 || attempt.ended || !end.at.known()) return;
  const double patience = patience_of(rhythm);
  std::optional<Sooner> sooner = live ? stalls_sooner(state, rhythm, since) : std::nullopt;
  if (sooner && sooner->from >= since + Duration::seconds(patience)) sooner.reset();
  const double silent = (end.at - since).seconds();
  if (!sooner && silent <= patience) return;
  const size_t number = state.attempts.size() - 1;
  const auto index = static_cast<uint16_t>(number);
  const Time moved = std::max(since, last_counted(state, index, since, patience));
  if (!sooner && (end.at - moved).seconds() <= patience) return;  // the work of the step goes on
  for (const FailureChain& chain : memory.chains(state, knowledge)) {
    if (chain.attempt == number && chain.ended) return;
  }
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (total > 0 && step + 1 >= total) return;
  if (!live && (epochs_done(state) || finished_by_its_word(state, knowledge)))
    return;  // what goes on logging, such as a session that was left open, outlives its training
  Finding finding;
  finding.kind = "stall";
  finding.detector = "stall";
  const bool talks = !sooner && (live ? watched.quiet < kQuiet.value * patience : !end.idle);
  const State::LongPhase* const phase = announced_phase(state, number, end.at);
  const bool evaluates = silent <= kAnnounced.value && phase != nullptr && phase->evaluates;
  const bool long_talk = silent > kTalks.value * patience && (live || total > 0);
  const auto* const counter = open_counter(state, index, since);  // it has stood still for the patience by now
  const Severity talking = long_talk || counter != nullptr ? Severity::kWarning : Severity::kInfo;
  finding.severity = talks ? talking : evaluates ? Severity::kWarning : Severity::kCritical;
  finding.onset = {step, since, {}, index};
  // Time alone shows it: no line of the run does.
  const Time detected = sooner ? sooner->from : moved + Duration::seconds(patience);
  finding.detected = {step, detected, {}, index};
  finding.summary =
      cat("No step after ", step, " for ", format_duration(end.at - since), sooner ? cat(", and ", sooner->why) : "",
          "; a step usually takes ", format_duration(Duration::seconds(usual)), stands_at(counter, end.at),
          evaluates ? "; its log announced an evaluation, which may still be under way" : "");
  finding.suggests.push_back({"hang-no-progress-generic", 0.5,
                              talks ? "lines keep coming, steps do not" : "neither steps nor lines of work come"});
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector stall;
const Detector stall{
    "stall", "The run is alive but has done no step for ten times its usual time.", {"stall"}, kKnobs, judge};

}  // namespace mw::detect
