#include "core/reach.h"

#include <algorithm>

#include "core/checkpoint_trust.h"

namespace mw {
namespace {

constexpr int64_t kGaps = 2;         // between logged steps
constexpr int64_t kOfSignals = 128;  // a shell's status for a signal lies above

/// Between two steps that one name has values of.
int64_t widest_gap_before(const State& state, size_t end) {
  const Series* most = nullptr;
  for (const Series& one : state.series) {
    if (most == nullptr || one.points().size() > most->points().size()) most = &one;
  }
  int64_t gap = 1;
  const size_t count = most == nullptr ? 0 : most->points().size();
  for (size_t i = 1; i < count; ++i) {
    const Point &then = most->points()[i - 1], &now = most->points()[i];
    if (now.attempt < end && now.attempt == then.attempt && then.step != kNoStep)
      gap = std::max(gap, now.step - then.step);
  }
  return gap;
}

/// The exception of one that waits for others: of what they had not written out it says nothing.
bool of_a_launcher(std::string_view exception) {
  return exception.ends_with("ChildFailedError") || exception.ends_with("ProcessExitedException") ||
         exception.ends_with("ProcessRaisedException") || exception.ends_with("CalledProcessError");
}

/// It failed with an exception of its own, behind its last record.
bool named_its_failure(const State& state, size_t attempt) {
  const int64_t last = state.attempts[attempt].last_step;
  return std::any_of(state.traces.begin(), state.traces.end(), [attempt, last](const TraceState& one) {
    return one.moment.attempt == attempt && !one.trace.sample && one.moment.step >= last &&
           !of_a_launcher(one.trace.exception);
  });
}

/// Its last records came out. A status is also that of a shell or a launcher whose trainer a signal ended, and a keeper
/// that is killed with the command loses what was in their pipe: then the end itself is missing, too.
bool ended_by_itself(const State& state, size_t attempt) {
  const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(attempt) + 1);
  if (known == nullptr || !known->exited || !known->known || known->signal != 0) return false;
  return known->code == 0 || (known->code < kOfSignals && named_its_failure(state, attempt));
}

}  // namespace

Reach reach_before(const State& state, size_t end) {
  Reach reach;
  bool bars = false;
  end = std::min(end, state.attempts.size());
  for (size_t i = 0; i < end; ++i) {
    const AttemptState& one = state.attempts[i];
    bars = bars || !one.bar.empty();
    reach.named =
        std::max({reach.named, one.last_step, one.resumed_at, one.bar.empty() ? kNoStep : one.bar.back().done});
  }
  int64_t saved = kNoStep;  // by the log
  for (const auto& [moment, save] : state.checkpoints) {
    if (moment.attempt < end && !state.by_host(moment.where)) saved = std::max(saved, save.step);
  }
  reach.names_saves = saved != kNoStep && reach.named != kNoStep && saved <= reach.named + 1;
  reach.named = std::max(reach.named, saved);
  if (has_nameless_records(state) && !bars) reach.named = kNoStep;  // of every fifth step there may be a record
  if (end > 0 && reach.named != kNoStep && ended_by_itself(state, end - 1))
    reach.beyond = reach.named + kGaps * widest_gap_before(state, end);
  return reach;
}

}  // namespace mw
