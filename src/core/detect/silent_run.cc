// A run that is alive and says nothing, judged by what its processes do meanwhile: nothing, or what they always did.
#include <algorithm>

#include "base/text.h"
#include "core/components.h"
#include "core/detect/support/host.h"
#include "core/detect/support/pause.h"
#include "core/detect/support/rhythm.h"
#include "core/detect/support/work.h"

namespace mw::detect {
namespace {

constexpr Knob kSteps{"steps_least", 5, "steps", "Fewer steps have no rhythm", "own choice"};
constexpr Knob kOwn{"own_periods", 10, "usual steps", "A step ten times as long as the run's own is no slow step",
                    "failure catalogue, hang against slow-step"};
constexpr Knob kLongest{"longest_gaps", 3, "longest gaps", "Between two steps there may be an evaluation or a save",
                        "own"};
constexpr Knob kIdle{
    "idle_least", 300, "s",
    "Idle processes may wait for a tool or a remote judge; a run that does so often has its own rhythm of it", "own"};
constexpr Knob kBusy{"busy_least", 180, "s", "By then the processors' use while it is silent is known", "own"};
constexpr Knob kNoPlan{"no_plan", 7200, "s",
                       "Where no plan says that more was to come it may be done, and export or upload what it has",
                       "an upload of 1 TB at 150 MB/s takes nearly two hours; own choice"};
constexpr Knob kBusyOwn{"busy_periods", 100, "usual steps", "A first evaluation may say nothing for as long", "own"};
constexpr Knob kBusyMost{"busy_most", 1800, "s", "Evaluation, saving and start-up may each take this long",
                         "report skyrl-biomni-monitor-cycles-2026-02-19: saves of 22 min"};
constexpr Knob kKnobs[] = {
    kSteps,          kOwn,      kLongest,  kIdle,     kBusy,     kNoPlan,     kBusyOwn,          kBusyMost,
    kRests,          kWorks,    kNoWork,   kGpuWorks, kSpinBusy, kSpinMemory, kSpinMemoryBefore, kSpinPower,
    kSpinProcessors, kSpinEach, kAnnounced};

using Does = Work::Does;

/// As the watch measured it, else by the clocks of the run's files.
Rhythm rhythm_at(const State& state, Time since, Time at) {
  const auto usual = host_value(state, "step.usual", "run", at), longest = host_value(state, "step.longest", "run", at);
  return usual && longest ? Rhythm{*usual, *longest} : rhythm_of(state, since, kSteps.value);
}

/// What a figure of the silence shows.
struct Silence {
  Does does = Does::kUnknown;
  Time since;
  Rhythm rhythm;
  bool reported = false;
  bool announced = false;  ///< an evaluation or a save was, and may still be under way
  bool evaluates = false;  ///< it is an evaluation
};

bool is_stuck(Does does) { return does == Does::kNothing || does == Does::kSpins; }

std::string words_of(Does does) {
  if (does == Does::kNothing) return ", and its processes do next to nothing";
  return does == Does::kSpins ? cat(", and ", kSpinsInWords) : ", while its processes are as busy as before";
}

Silence silence_at(const State& state, const Point& point) {
  Silence silence;
  if (point.attempt >= state.attempts.size()) return silence;
  const AttemptState& attempt = state.attempts[point.attempt];
  silence.since = std::max(point.at + Duration::seconds(-point.value), last_resumed(state));
  silence.rhythm = rhythm_at(state, silence.since, point.at);
  const Time end = attempt.ended_heard.known() ? attempt.ended_heard : attempt.ended_at.at;
  const bool over = attempt.ended && (!end.known() || end <= point.at);
  if (!silence.rhythm.known() || over || attempt.first_step == kNoStep) return silence;
  const double usual = silence.rhythm.usual;
  const double own = std::max(kOwn.value * usual, kLongest.value * silence.rhythm.longest);
  const double lasts = (point.at - silence.since).seconds();
  if (lasts < std::max(own, std::min(kIdle.value, kBusy.value))) return silence;  // most points of a healthy run
  silence.does = work_at(state, attempt.began.at, silence.since, point.at).does;
  const State::LongPhase* const phase = announced_phase(state, point.attempt, silence.since);
  silence.announced = phase != nullptr && lasts < kAnnounced.value;
  silence.evaluates = silence.announced && phase->evaluates;
  const double idle = silence.announced ? kBusyMost.value : kIdle.value;
  if (is_stuck(silence.does)) silence.reported = lasts >= std::max(own, idle);
  if (silence.does == Does::kAsAlways) {
    const double busy = std::clamp(kBusyOwn.value * usual, kBusy.value, kBusyMost.value);
    silence.reported = lasts >= std::max(own, silence.announced ? kBusyMost.value : busy);
  }
  return silence;
}

bool is_planned(const State& state, uint16_t attempt) {
  return state.total_steps > 0 || (attempt < state.attempts.size() && state.attempts[attempt].total_steps > 0);
}

/// Where a silence without a plan has lasted so long that an upload at the end would be over.
const Point* too_long(const State& state, const Episode& episode, const Series& series) {
  for (const Point& point : series.points()) {
    if (point.at < episode.first.at || (episode.ended && point.at >= episode.ended->at)) continue;
    const Silence silence = silence_at(state, point);
    if (silence.reported && (point.at - silence.since).seconds() >= kNoPlan.value) return &point;
  }
  return nullptr;
}

Finding finding_of(const State& state, const Episode& seen, const Series& series) {
  Episode episode = seen;
  Silence silence = silence_at(state, episode.first);
  const bool stuck = is_stuck(silence.does);
  const bool planned = is_planned(state, episode.first.attempt);
  const Point* late = stuck && !planned ? too_long(state, episode, series) : nullptr;
  if (late != nullptr) {
    episode.first = *late;
    episode.detected = std::max(episode.detected, late->at);
    silence = silence_at(state, *late);
  }
  const bool grave = stuck && !silence.evaluates && (planned || late != nullptr);
  const std::string rhythm = cat("; a step usually takes ", format_duration(Duration::seconds(silence.rhythm.usual)));
  Finding finding = host_finding(state, "silent-run", stuck ? "stall" : "logging-gap",
                                 grave ? Severity::kCritical : Severity::kWarning, episode, series,
                                 cat("None of the run's files said anything for ",
                                     format_duration(episode.first.at - silence.since), words_of(silence.does), rhythm,
                                     silence.evaluates ? "; it had announced an evaluation"
                                     : stuck && !grave ? "; no plan says that more is to come: it may be done"
                                                       : ""));
  finding.onset.at = silence.since;
  finding.onset.step = state.step_at(silence.since);
  const std::string_view shows = silence.does == Does::kSpins ? "its GPUs spin" : "its processes are idle";
  finding.suggests.push_back(stuck ? Finding::Suggestion{"hang-no-progress-generic", 0.6, std::string(shows)}
                                   : Finding::Suggestion{"evidence-gap-at-onset", 0.5, "its processes are busy"});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const Series* silent = host_series(state, "log.silent", "run");
  if (silent == nullptr || is_paused(state) || stopped_by_somebody(state) != nullptr) return;
  EpisodeRule rule;
  rule.bad = [&state](const Point& point) { return point.value > 0 && silence_at(state, point).reported; };
  rule.good = [](const Point& point) { return point.value <= 0; };
  rule.low = false;
  for (const Episode& episode : episodes(state, *silent, rule)) {
    out.push_back(finding_of(state, episode, *silent));
  }
}

}  // namespace

extern const Detector silent_run;
const Detector silent_run{"silent-run",
                          "A run that is alive says nothing: its processes are idle, or as busy as ever.",
                          {"stall", "logging-gap"},
                          kKnobs,
                          judge};

}  // namespace mw::detect
