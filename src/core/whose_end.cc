#include "core/whose_end.h"

#include "core/attempts.h"
#include "core/is_a.h"
#include "core/shell_word.h"
#include "core/supervise/supervision.h"

namespace mw {

bool is_of_a_helper(const State& state, const Event& event, const event::Ended& ended) {
  if (ended.how != event::Ended::How::kFailed || !shell_says_killed(ended.text) || !event.received.known())
    return false;
  const auto& attempts = state.supervision.attempts;
  const bool lives = !attempts.empty() && attempts.back().started && !attempts.back().exited;
  return lives && !shell_lost_trainer(ended.text);
}

bool ends_command(const AttemptState& own, const Event& event) {
  return event.received.known() && is_a<event::Ended>(event) && own.why == kKeeperBegan &&
         own.began.where.source == event.where.source;
}

}  // namespace mw
