#include "ui/view/watched.h"

namespace mw {

bool should_be_watched(const RunStatus& status) {
  return !is_watched_here(status) && !status.elsewhere && status.supervised && status.phase != RunStatus::Phase::kOver;
}

bool was_left(const State& state, const RunStatus& status) {
  if (status.supervised || status.elsewhere || is_watched_here(status)) return false;
  if (status.adopted) return status.pid != 0;
  return state.verdict == "running" || state.verdict == "stalled";
}

}  // namespace mw
