#include "core/supervise/decide_component.h"

#include <algorithm>

#include "base/text.h"
#include "core/components.h"
#include "core/supervise/policy.h"

namespace mw {

int restarts_in_a_row(const State& state, std::string_view component) {
  int count = 0;
  Time next;  // when the restart after it was decided on
  for (auto action = state.actions.rbegin(); action != state.actions.rend(); ++action) {
    const event::Intended& intent = action->intent;
    if (intent.target != component || (intent.action != kRestartComponent && intent.action != kRestartWithRun))
      continue;
    if (!action->done || (!action->ok && !action->begun)) continue;  // maybe nothing came of it
    if (count > 0 && action->done && action->ok && next.ns - action->done_at.ns >= kComponentProven.ns) break;
    next = action->at;
    ++count;
  }
  return count;
}

std::string by_component(std::string_view component) { return cat(kByComponent, " ", component); }

std::string given_up(const Supervision& known) {
  const auto first = std::find_if(known.requests.begin(), known.requests.end(), [](const Supervision::Request& one) {
    return one.what == "stop" || one.what == "kill";
  });
  if (first == known.requests.end() || !first->who.starts_with(by_component(""))) return "";
  return cat("The run cannot go on without ", first->who, ", which is not started anew any more.");
}

ComponentDecision decide_component(const ComponentLife& life, const ComponentLimits& limits) {
  using What = ComponentDecision::What;
  const bool fails = life.seen != nullptr && in_trouble(life.seen->last.health) && life.seen->last.certain;
  if (life.ended.empty() && !fails) return {What::kNothing, "", {}, life.spent};
  const bool proven = life.ready_for && *life.ready_for >= kComponentProven;
  const int spent = proven ? 0 : life.spent;
  const std::string& why = life.ended.empty() ? life.seen->last.text : life.ended;
  if (spent >= limits.restarts) return {What::kGiveUp, why, {}, spent};
  Duration wait = limits.first_wait;
  for (int i = 0; i < spent && wait < limits.longest_wait; ++i) wait.ns *= 2;
  // The first failure of what has worked is answered at once.
  wait = spent == 0 && life.was_ready ? Duration() : std::min(wait, limits.longest_wait);
  return {What::kRestart, why, wait, spent + 1};
}

}  // namespace mw
