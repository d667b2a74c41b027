#include "core/detect/support/settled.h"

#include <algorithm>

#include "core/detect/support/rhythm.h"

namespace mw::detect {
namespace {

constexpr double kUsualSteps = 3;       // a step so long is no slow step any more
constexpr double kLeastSeconds = 30;    // a trainer that catches an exception goes on sooner
constexpr double kUnknownSeconds = 60;  // in which nothing is said, where no rhythm is known: at the start
constexpr double kMostSeconds = 1800;   // as detect/stall.cc has it for evaluation, saving and start-up
constexpr double kUnsureSteps = 10;     // likewise, of usual steps
constexpr double kStepsLeast = 3;       // fewer steps have no rhythm

Rhythm rhythm_now(const State& state) {
  const Rhythm watched = rhythm_by_ticks(state, kStepsLeast);
  if (state.anchors.empty()) return watched;
  const Rhythm own = rhythm_of(state, state.anchors.back().first, kStepsLeast);
  return {std::max(watched.usual, own.usual), std::max(watched.longest, own.longest)};
}

/// The first tick after the event of this order; null: none came yet.
const Tick* tick_after(const State& state, uint64_t order) {
  const auto after = std::upper_bound(state.ticks.begin(), state.ticks.end(), order,
                                      [](uint64_t o, const Tick& tick) { return o < tick.order; });
  return after == state.ticks.end() ? nullptr : &*after;
}

/// Seconds by the watch's clock from a tick to the last one in which no log said anything.
double quiet_since(const State& state, const Tick* tick) {
  const Tick* last = &state.ticks.back();
  const Tick* spoke = last;
  while (spoke != tick && !spoke->speaks) --spoke;
  return (last->at - spoke->at).seconds();
}

/// Has nothing come since `tick` for so long that the run is over? An error of which a process does not die may be
/// followed by an evaluation, a save or a wait.
bool waited_enough(const State& state, const Tick* tick, bool ends_for_sure) {
  const double since = (state.ticks.back().at - tick->at).seconds();
  const Rhythm pace = rhythm_now(state);
  if (!ends_for_sure) return since >= std::max(kMostSeconds, kUnsureSteps * pace.usual);
  if (pace.usual <= 0) return since >= kMostSeconds || quiet_since(state, tick) >= kUnknownSeconds;
  return since >= std::clamp(std::max(kUsualSteps * pace.usual, pace.longest), kLeastSeconds, kMostSeconds);
}

bool figures_decide(const Symptom& lead) {
  return lead.signature != nullptr && lead.signature->layer == "learning-dynamics";
}

}  // namespace

bool is_over(const State& state, uint16_t attempt) {
  if (state.closed || attempt + 1U < state.attempts.size()) return true;
  if (attempt >= state.attempts.size() || !state.attempts[attempt].ended) return false;
  // That it failed or was stopped is a word of its text, which may be a sample's.
  const event::Ended::How how = state.attempts[attempt].ended->how;
  return how == event::Ended::How::kExit || how == event::Ended::How::kComplete;
}

bool settled(const State& state, const FailureChain& chain) {
  if (is_over(state, chain.attempt)) return true;
  const Tick* tick = tick_after(state, chain.lead.order);
  return tick != nullptr && waited_enough(state, tick, chain.ended && !figures_decide(chain.lead));
}

bool lasts(const State& state, const FailureChain& chain) {
  constexpr uint64_t kOften = 10;
  constexpr double kSeconds = 120;
  const Tick* tick = tick_after(state, chain.lead.order);
  if (tick == nullptr || chain.lead.signature == nullptr || figures_decide(chain.lead)) return false;
  const auto known = [&](const Symptom& other) { return other.signature == chain.lead.signature; };
  const auto times = 1 + static_cast<uint64_t>(std::count_if(chain.others.begin(), chain.others.end(), known));
  const double since = (state.ticks.back().at - tick->at).seconds();
  const Rhythm pace = rhythm_now(state);
  return times >= kOften && pace.usual > 0 && since >= std::max(kSeconds, pace.longest);
}

Severity settled_severity(const FailureChain& chain) {
  return chain.replaced ? Severity::kWarning : Severity::kCritical;
}

Severity provisional_severity(const FailureChain& chain) { return chain.ended ? Severity::kWarning : Severity::kInfo; }

}  // namespace mw::detect
