#include "core/outermost_frame.h"

#include <algorithm>

namespace mw {

bool is_from_module(const State& state, const TraceState& trace) {
  constexpr uint64_t kNextLines = 3;  // from the head to its first frame, where lines of others cut in
  const SignatureState* const frames = state.signature("frame-of-module");
  if (frames == nullptr) return false;
  return std::any_of(frames->matches.begin(), frames->matches.end(), [&trace](const SignatureState::Match& match) {
    const Where &frame = match.moment.where, &head = trace.moment.where;
    return frame.source == head.source && frame.line > head.line && frame.line <= head.line + kNextLines;
  });
}

}  // namespace mw
