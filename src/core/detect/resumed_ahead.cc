// Resumed from a step that no attempt before had reached: from somebody else's checkpoint.
#include <algorithm>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/detect/detector.h"
#include "core/detect/support/progress.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"gaps", 2, "gaps",
     "A save may lie so many of the widest gaps between logged steps beyond the last one: trainers log one step in "
     "many",
     "as the furthest step that a checkpoint may have"},
};

/// How far the attempts before `attempt` came by their records, bars and resumes, and the saves that they logged.
int64_t furthest_before(const State& state, size_t attempt) {
  int64_t furthest = kNoStep;
  bool bars = false;
  for (size_t i = 0; i < attempt; ++i) {
    const AttemptState& one = state.attempts[i];
    bars = bars || !one.bar.empty();
    furthest = std::max({furthest, one.last_step, one.resumed_at, one.bar.empty() ? kNoStep : one.bar.back().done});
  }
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt < attempt && !state.by_host(moment.where)) furthest = std::max(furthest, saved.step);
  }
  return has_nameless_records(state) && !bars ? kNoStep : furthest;  // of every fifth step there may be a record
}

/// Between two steps that one name has values of.
int64_t widest_gap_before(const State& state, size_t attempt) {
  const Series* most = nullptr;
  for (const Series& one : state.series) {
    if (most == nullptr || one.points().size() > most->points().size()) most = &one;
  }
  int64_t gap = 1;
  const size_t count = most == nullptr ? 0 : most->points().size();
  for (size_t i = 1; i < count; ++i) {
    const Point &then = most->points()[i - 1], &now = most->points()[i];
    if (now.attempt < attempt && now.attempt == then.attempt && then.step != kNoStep)
      gap = std::max(gap, now.step - then.step);
  }
  return gap;
}

/// Its last records came out: who is killed by a signal loses those that it had not written yet.
bool ended_by_itself(const State& state, size_t attempt) {
  const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(attempt) + 1);
  return known != nullptr && known->exited && known->known && known->signal == 0;
}

const event::CheckpointSeen* seen_before(const State& state, size_t attempt, int64_t step) {
  for (auto one = state.checkpoint_scans.rbegin(); one != state.checkpoint_scans.rend(); ++one) {
    if (one->second.step == step && one->first.attempt < attempt) return &one->second;
  }
  return nullptr;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (size_t i = 1; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    if (attempt.resumed_at == kNoStep || attempt.first_step == kNoStep || !ended_by_itself(state, i - 1)) continue;
    const int64_t furthest = furthest_before(state, i);
    if (furthest == kNoStep || attempt.resumed_at <= furthest + 1) continue;
    const event::CheckpointSeen* seen = seen_before(state, i, attempt.resumed_at);
    const auto slack = static_cast<int64_t>(kKnobs[0].value) * widest_gap_before(state, i);
    if (seen == nullptr || attempt.resumed_at <= furthest + slack) continue;
    Finding finding;
    finding.kind = "checkpoint-suspect";
    finding.detector = "resumed-ahead";
    finding.severity = Severity::kWarning;
    finding.onset = attempt.began;
    finding.onset.step = attempt.resumed_at;
    finding.detected = first_record(state, i, attempt.first_step);
    finding.summary =
        cat("Attempt ", i + 1, " resumed from step ", attempt.resumed_at,
            ", and no attempt before had come further than step ", furthest, ": ", seen->path, " may be another run's");
    finding.evidence.push_back({attempt.began.where, seen->path, "", kNoStep, 0});
    finding.suggests.push_back({"resumed-from-another-run", 0.7, "the run had not reached that step"});
    out.push_back(std::move(finding));
    return;
  }
}

}  // namespace

extern const Detector resumed_ahead;
const Detector resumed_ahead{"resumed-ahead",
                             "An attempt resumes from a checkpoint of a step that no attempt before it had reached.",
                             {"checkpoint-suspect"},
                             kKnobs,
                             judge};

}  // namespace mw::detect
