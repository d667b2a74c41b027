// Is a component (a server or engine that midwatch started) to be started anew, and when? Pure, as decide.h is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/state.h"

namespace mw {

/// Beyond it a component that was ready counts as proven: its restarts in a row begin at none again.
inline constexpr Duration kComponentProven = Duration::seconds(300);

struct ComponentLimits {
  int restarts = 5;  ///< in a row without a proven life between
  Duration first_wait = Duration::seconds(1), longest_wait = Duration::seconds(60);
};

/// Restarts of `component` in a row, by the journal: those since a life that was ready for kComponentProven. Intents
/// in doubt do not count.
int restarts_in_a_row(const State& state, std::string_view component);

/// What its executor knows of its present life, and of those before.
struct ComponentLife {
  std::string ended;                     ///< why its process is gone; "": it runs
  const ComponentState* seen = nullptr;  ///< what was seen of this life; nullptr: nothing yet
  bool was_ready = false;                ///< in this life or in an earlier one
  std::optional<Duration> ready_for;     ///< since this life was ready; nullopt: it never was
  int spent = 0;                         ///< restarts in a row
};

struct ComponentDecision {
  enum class What { kNothing, kRestart, kGiveUp };
  What what = What::kNothing;
  std::string why;  ///< what is wrong with it, one sentence for people
  Duration wait;    ///< of kRestart: before it begins; doubles with each restart in a row
  int spent = 0;    ///< restarts in a row, this one counted
};
/// Requested::who of the stop of a run that cannot go on without this component.
std::string by_component(std::string_view component);
/// Why the run is to end, in a sentence, where it is for want of a component; "": somebody requested it.
std::string given_up(const Supervision& known);

ComponentDecision decide_component(const ComponentLife& life, const ComponentLimits& limits);

}  // namespace mw
