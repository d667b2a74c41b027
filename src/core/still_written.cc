#include "core/still_written.h"

#include <algorithm>

namespace mw {
namespace {

// By so much the clocks of two machines may differ.
constexpr Duration kSlack = Duration::seconds(60);

Time last_said(const State& state) {
  Time last = state.last_at;
  for (const SourceState& source : state.sources) last = std::max({last, source.last_at, source.end_at});
  return last;
}

}  // namespace

bool take_as_running(State& state, Time now) {
  const Time last = last_said(state);
  if (!last.known() || last > now + kSlack || now > last + kGoesOn) return false;
  if (state.verdict != "unknown" || state.attempts.empty()) return false;
  const size_t number = state.attempts.size() - 1;
  const auto ends = [number](const Incident& incident) {
    return incident.kind == "died-silently" && incident.latest.attempt == number;
  };
  for (const Incident& gone : state.incidents) {
    if (!ends(gone)) continue;
    for (Incident& incident : state.incidents) std::erase(incident.followed_by, gone.id);
  }
  std::erase_if(state.incidents, ends);
  state.verdict = "running";
  return true;
}

}  // namespace mw
