#include "core/components.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

event::ComponentSaw bounded(const event::ComponentSaw& saw) {
  event::ComponentSaw kept = saw;
  kept.component = clip(saw.component, 200);
  kept.kind = clip(saw.kind, 64);
  kept.text = clip(saw.text, 500);
  kept.address = clip(saw.address, 200);
  if (!std::isfinite(kept.seconds) || kept.seconds < 0) kept.seconds = 0;
  return kept;
}

ComponentState& component_of(State& state, const std::string& name) {
  const auto known = std::find_if(state.components.begin(), state.components.end(),
                                  [&name](const ComponentState& one) { return one.last.component == name; });
  if (known != state.components.end()) return *known;
  if (state.components.size() >= State::kComponentLimit) {
    state.components.erase(state.components.begin() + State::kComponentLimit / 2);
  }
  return state.components.emplace_back();
}

/// The name without its numbers.
std::string family_of(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

}  // namespace

bool others_serve(const State& state, const ComponentState& component) {
  const std::string family = family_of(component.last.component);
  return std::any_of(state.components.begin(), state.components.end(), [&](const ComponentState& other) {
    return &other != &component && other.last.health == event::ComponentSaw::Health::kWell &&
           other.last.kind == component.last.kind && other.since.attempt == component.since.attempt &&
           family_of(other.last.component) == family;
  });
}

const ComponentState* stopped_by_somebody(const State& state) {
  for (const ComponentState& component : state.components) {
    if (component.troubles.empty()) continue;
    const ComponentState::Trouble& last = component.troubles.back();
    const bool here = !last.ended && last.began.attempt + 1U == state.attempts.size();
    if (!here || component.last.health != event::ComponentSaw::Health::kFrozen) continue;
    // A step that was done since shows that the run does without it, or that a watch missed how it was continued.
    if (state.attempts.back().last_step <= (last.certain ? last.certain->step : last.began.step)) return &component;
  }
  return nullptr;
}

Time last_continued(const State& state) {
  Time last;
  for (const ComponentState& component : state.components) {
    for (const ComponentState::Trouble& trouble : component.troubles) {
      const bool continued = trouble.saw.health == event::ComponentSaw::Health::kFrozen && trouble.ended &&
                             trouble.began.attempt + 1U == state.attempts.size();
      if (continued && trouble.ended->at.known()) last = std::max(last, trouble.ended->at);
    }
  }
  return last;
}

void add_component(State& state, const event::ComponentSaw& seen, const Moment& moment) {
  event::ComponentSaw saw = bounded(seen);
  ComponentState& found = component_of(state, saw.component);
  const bool overdue = saw.health == event::ComponentSaw::Health::kStarting && saw.certain && !found.last.certain;
  const bool changed = found.last.component.empty() || overdue || found.last.health != saw.health ||
                       found.last.pid != saw.pid || found.since.attempt != moment.attempt;
  if (changed) found.since = moment;
  found.last = saw;
  const bool open = !found.troubles.empty() && !found.troubles.back().ended;
  // A trouble of an attempt that is over does not end with the next attempt.
  const bool same = open && found.troubles.back().began.attempt == moment.attempt;
  if (!in_trouble(saw.health)) {
    // What was started anew and does not work yet is still missing.
    if (same && saw.health == event::ComponentSaw::Health::kWell) found.troubles.back().ended = moment;
    return;
  }
  if (!same) {
    if (found.troubles.size() >= ComponentState::kTroublesKept) {
      found.troubles.erase(found.troubles.begin() + ComponentState::kTroublesKept / 2);
    }
    found.troubles.push_back({moment, state.order, saw, std::nullopt, std::nullopt});
  }
  ComponentState::Trouble& trouble = found.troubles.back();
  // It is reported as what was seen first, until something certain is seen.
  if (!trouble.certain && saw.certain) {
    trouble.certain = moment;
    trouble.saw = std::move(saw);
  }
}

}  // namespace mw
