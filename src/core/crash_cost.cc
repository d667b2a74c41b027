#include "core/crash_cost.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/cost.h"
#include "core/resume_advice.h"
#include "core/step_done.h"
#include "core/written_span.h"

namespace mw {
namespace {

constexpr double kWorthSaying = 60;    // s of work
constexpr double kClocksApart = 3600;  // s between the log's clock and that of who watches it: it is another clock

/// The last attempt as who started it knows it; nullptr where midwatch did not.
const SupervisedAttempt* supervised(const State& state) {
  const auto& all = state.supervision.attempts;
  return all.empty() || !all.back().started_at.known() ? nullptr : &all.back();
}

/// When the watch last heard the log say something, else when the watch began; unknown where nobody watched.
Time heard_last(const State& state) {
  for (auto tick = state.ticks.rbegin(); tick != state.ticks.rend(); ++tick) {
    if (tick->speaks) return tick->at;
  }
  return state.ticks.empty() ? Time() : state.ticks.front().at;
}

/// The lines of many trainers have no clock: then it was saved when midwatch, which started the attempt, first knew
/// of its step, or found it on the disk.
Time heard_at(const State& state, int64_t step) {
  const SupervisedAttempt* known = supervised(state);
  if (known == nullptr) return {};
  Time at;
  const auto earliest = [&at, known](Time one) {
    if (one >= known->started_at && (!at.known() || one < at)) at = one;
  };
  for (const Tick& tick : state.ticks) {
    if (tick.step != kNoStep && tick.step >= step) earliest(tick.at);
  }
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.step == step && !is_gone(seen) && moment.attempt + 1U == state.attempts.size()) earliest(moment.at);
  }
  return at;
}

/// When the last attempt saved it, or did its step where it saved it and nothing says when; unknown where it did not.
Time saved_at(const State& state, int64_t step) {
  const uint16_t last = static_cast<uint16_t>(state.attempts.size() - 1);
  Time at;
  bool saved_here = false;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt != last || (saved.step != kNoStep ? saved.step : moment.step) != step) continue;
    saved_here = true;
    at = moment.at;
  }
  if (at.known()) return at;
  if (saved_here) at = done_at(state, step);
  if (saved_here) return at.known() ? at : heard_at(state, step);
  const auto scan = std::find_if(state.checkpoint_scans.begin(), state.checkpoint_scans.end(),
                                 [&](const auto& one) { return one.first.attempt == last && one.second.step == step; });
  return scan == state.checkpoint_scans.end() ? Time() : scan->first.at;
}

Time began_at(const State& state) {
  const Time at = began_by_clock(state, state.attempts.back());
  const SupervisedAttempt* known = supervised(state);
  return at.known() || known == nullptr ? at : known->started_at;
}

}  // namespace

Time last_sign_of_life(const State& state) {
  const Time until = ran_until(state);
  if (state.attempts.empty()) return until;
  const AttemptState& last = state.attempts.back();
  Time at = std::max(last.last.at, last.ended_at.at);
  if (until > state.last_at) at = std::max(at, until);
  if (state.verdict == "running") {
    const Time heard = heard_last(state);
    const bool one_clock = !at.known() || !heard.known() || std::fabs((heard - at).seconds()) < kClocksApart;
    return one_clock ? state.last_at : at + (state.last_at - heard);
  }
  if (at.known()) return at;
  const SupervisedAttempt* known = supervised(state);
  return known == nullptr ? state.last_at : supervised_end(state, *known);
}

double work_since(const State& state, int64_t step) {
  if (state.attempts.empty()) return 0;
  const AttemptState& attempt = state.attempts.back();
  Time since = step == kNoStep ? Time() : saved_at(state, step);
  // It went on from that one, or has none.
  const bool began_there = step == kNoStep || attempt.resumed_at == step || attempt.first_step > step;
  if (!since.known() && began_there) since = began_at(state);
  return work_since(state, since);
}

double work_since(const State& state, Time since) {
  if (state.attempts.empty()) return 0;
  const Time end = last_sign_of_life(state);
  return since.known() && end > since ? (end - since).seconds() : 0;
}

std::string work_text(double seconds, double cost_per_hour) {
  if (seconds < kWorthSaying) return "";
  const std::string money = cost_text(seconds, cost_per_hour);
  return cat(format_duration(Duration::seconds(seconds)), " of work", money.empty() ? "" : cat(" (", money, ")"));
}

std::string verified_text(const State& state) {
  // Another trainer may save into the same folder.
  const int64_t furthest = furthest_saved(state);
  auto newest = newest_sound(state, furthest == kNoStep ? kNoStep : furthest + 1);
  if (!newest) newest = newest_without_step(state);
  const bool beyond = !newest;
  if (beyond) newest = newest_sound(state);
  if (!newest) return doubted_text(state);
  if (state.attempts.empty()) return "";
  const Time end = last_sign_of_life(state);
  const std::string when = newest->verified.known() && end > newest->verified
                               ? cat(" ", format_duration(end - newest->verified), " before")
                               : "";
  if (newest->step == kNoStep) return cat(basename(newest->path), " was found whole", when);
  std::string which = cat("step ", newest->step);
  if (beyond) which += ", which this run has not reached by its log,";
  if (newest->attempt < first_of_lineage(state)) which += cat(" of attempt ", newest->attempt + 1);
  return newest->read ? cat("all bytes of ", which, " were read and found sane", when)
                      : cat(which, " was found whole", when);
}

}  // namespace mw
