// The verdict on a run as a whole.
#include "core/advance.h"

namespace mw {

std::string verdict_of(const State& state, const std::vector<Incident>& incidents) {
  if (state.attempts.empty()) return "unknown";
  const AttemptState& last = state.attempts.back();
  if (last.ended) {
    switch (last.ended->how) {
      case event::Ended::How::kComplete:
        return "finished";
      case event::Ended::How::kExit:
        return last.ended->code == 0 ? "finished" : "crashed";
      case event::Ended::How::kInterrupted:
        return "interrupted";
      case event::Ended::How::kFailed:
        return "crashed";
    }
  }
  for (const Incident& incident : incidents) {
    if (incident.kind == "crash") return "crashed";
    if (incident.kind == "interrupted") return "interrupted";
  }
  return state.closed ? "unknown" : "running";
}

}  // namespace mw
