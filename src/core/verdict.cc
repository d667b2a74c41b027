// The verdict on a run as a whole: how its last attempt ended, as far as its files say.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "core/advance.h"
#include "core/detect/support/step_cleanup.h"
#include "core/error_face.h"
#include "core/exit_status.h"
#include "core/incident_kind.h"
#include "core/plan_bar.h"

namespace mw {
namespace {

// A plan that is done this far may have ended by its own rules, where the run gives a sign of that.
constexpr double kDoneShare = 0.98;
constexpr double kQuiet = 60;  // s without a line, after which a run whose steps are done has nothing more to do

/// What only the machine shows is a danger or a loss, not yet the run's end: the run or its launcher states that.
bool ends_run(const State& state, const Incident& incident) {
  return !state.by_host(incident.onset.where) && incident.severity == Severity::kCritical && incident.open &&
         ends_runs(incident.kind);
}

/// Does it show a traceback that nothing catches and with which its log ends, whatever the exception speaks of?
bool ends_in_trace(const State& state, const Incident& incident) {
  constexpr int64_t kBlankLines = 4;
  if (!state.closed || incident.severity != Severity::kCritical || !incident.open) return false;
  const auto ends = [&state](const Where& at) {
    const TraceState* const seen = trace_around(state, at);
    if (seen == nullptr || seen->trace.exception == "KeyboardInterrupt") return false;
    const SourceState& source = state.sources[at.source];
    return (source.kind == "text" || source.kind == "notebook") &&
           static_cast<int64_t>(seen->trace.last_line) + kBlankLines >= source.lines;
  };
  // Figures that go wrong are an incident long before what the program then fails of, which is among its evidence.
  return ends(incident.onset.where) || std::any_of(incident.evidence.begin(), incident.evidence.end(),
                                                   [&ends](const Evidence& shown) { return ends(shown.where); });
}

/// Was the attempt over before Slurm ended its job, without a reason of its own? What no cancelling brings about had
/// failed until then: a module, a setting or data that the program lacked, or a fault in its code.
bool failed_before_cancelled(const State& state, const AttemptState& attempt, const Incident& incident) {
  static constexpr std::array<std::string_view, 4> kKinds = {"code-error", "config-error", "data-error",
                                                             "dependency-broken"};
  const std::string& text = attempt.ended->text;
  if (!contains(text, "CANCELLED AT") || contains(text, " DUE TO ") || !ends_run(state, incident)) return false;
  if (std::find(kKinds.begin(), kKinds.end(), incident.kind) == kKinds.end()) return false;
  const Where &failed = incident.onset.where, &ended = attempt.ended_at.where;
  return failed.source == ended.source && failed.line < ended.line;
}

/// A stop ends a notebook's cell: did a later one fail?
bool in_later_cell(const State& state, const Moment& stop, const Incident& incident) {
  const Where& at = incident.onset.where;
  return at.source == stop.where.source && at.source < state.sources.size() &&
         state.sources[at.source].kind == "notebook" && at.line > stop.where.line && ends_run(state, incident);
}

/// Steps from one record of the last attempt to the next, of the figures that are recorded most often; 0: not known.
int64_t spacing(const State& state) {
  int64_t least = 0;
  for (const Series& series : state.series) {
    const std::vector<Point>& points = series.points();
    if (points.size() < 3) continue;
    const Point &before = points[points.size() - 2], &last = points.back();
    if (last.attempt + 1U != state.attempts.size() || before.attempt != last.attempt) continue;
    const int64_t steps = last.step - before.step;
    if (steps > 0 && (least == 0 || steps < least)) least = steps;
  }
  return least;
}

/// The last step is done, or the next record would lie behind it, or the run, which is near its end, says so.
bool plan_done(const State& state, const AttemptState& last) {
  const int64_t total = last.total_steps > 0 ? last.total_steps : state.total_steps;
  if (total <= 0 || last.last_step == kNoStep) return false;
  const int64_t highest = last.first_step == 1 ? total : total - 1;  // some count from 0
  if (std::max(last.last_step, done_by_bar(state)) >= highest) return true;
  if (static_cast<double>(last.last_step) < kDoneShare * static_cast<double>(total)) return false;
  return last.last_step + spacing(state) > total || epochs_done(state) || said_farewell(state, last);
}

/// Its command is known to run, or its log has just gone on: evaluations and saves come after the last step.
bool goes_on(const State& state) {
  if (state.closed) return false;
  const auto& supervised = state.supervision.attempts;
  if (!supervised.empty() && !supervised.back().exited) return true;
  for (size_t i = state.ticks.size(); i-- > 0;) {
    if ((state.ticks.back().at - state.ticks[i].at).seconds() > kQuiet) break;
    if (state.ticks[i].speaks) return true;
  }
  return false;
}

}  // namespace

std::string verdict_of(const State& state, const std::vector<Incident>& incidents) {
  if (state.attempts.empty()) return "unknown";
  const AttemptState& last = state.attempts.back();
  const size_t number = state.attempts.size() - 1;
  const auto in_last = [&](const Incident& incident) { return incident.latest.attempt == number; };
  const auto open_in_last = [&](std::string_view kind) {
    return std::any_of(incidents.begin(), incidents.end(), [&](const Incident& i) {
      return in_last(i) && i.open && i.kind == kind && !state.by_host(i.onset.where);
    });
  };
  // It ended in order, as it was asked to; its plan was not done.
  const bool requested = stop_was_requested(state, number);
  const auto stopped_short = [&] {
    const bool asked =
        open_in_last("interrupted") || open_in_last("preempted") || requested || broken_off(state, number);
    return asked && open_plan(state, number).has_value();
  };
  // A stall is reported of a run that nothing is known to have ended: one without its engine may still wait for it.
  const bool stalled = !last.ended && open_in_last("stall");
  const bool crashed = std::any_of(incidents.begin(), incidents.end(), [&](const Incident& i) {
    return in_last(i) && (ends_run(state, i) || ends_in_trace(state, i)) && !(stalled && i.kind == "engine-dead");
  });
  if (last.ended) {
    switch (last.ended->how) {
      case event::Ended::How::kComplete:
        return crashed ? "crashed" : open_in_last("died-silently") ? "ended-early" : "finished";
      case event::Ended::How::kExit:
        // As it was asked to, however it did so; a program that a person interrupts ends with a status of its own.
        if (last.ended->code != 0 && (requested || open_in_last("interrupted")) && !crashed) return "interrupted";
        if (last.ended->code != 0 || crashed) return "crashed";
        if (stopped_short()) return "interrupted";
        return open_in_last("died-silently") ? "ended-early" : "finished";
      case event::Ended::How::kInterrupted:
        if (crashed && detect::ends_step(last.ended->text)) return "crashed";  // the launcher cleaned up after it
        return std::any_of(incidents.begin(), incidents.end(),
                           [&](const Incident& i) {
                             return in_last(i) &&
                                    (in_later_cell(state, last.ended_at, i) || failed_before_cancelled(state, last, i));
                           })
                   ? "crashed"
                   : "interrupted";
      case event::Ended::How::kStopped:
        return "interrupted";
      case event::Ended::How::kFailed:
        if (requested && !crashed) return "interrupted";
        return open_in_last("interrupted") || open_in_last("preempted") ? "interrupted" : "crashed";
    }
  }
  if (crashed) return "crashed";
  if (open_in_last("interrupted") || open_in_last("preempted")) return "interrupted";
  if (stalled) return "stalled";
  if (plan_done(state, last) && !goes_on(state)) return "finished";
  return state.closed ? "unknown" : "running";
}

}  // namespace mw
