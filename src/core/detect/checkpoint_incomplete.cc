// A save that began and that nothing says was finished, in an attempt that ended right there.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/cost.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/exit_status.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"steps_after", 1, "steps", "Asynchronous saves end during the next step; later steps mean that it went through",
     "Megatron AsyncCallsQueue, DCP async_save"},
    {"scanned_within", 20, "s",
     "Until then after its end what an attempt of midwatch's own saved is looked at on the disk", "own"},
};

int64_t step_of(const std::pair<Moment, event::CheckpointSaved>& saved) {
  return saved.second.step != kNoStep ? saved.second.step : saved.first.step;
}

/// A look at the disk found nothing wrong with it: that nothing more was said of it is then no sign.
bool seen_well(const State& state, const std::pair<Moment, event::CheckpointSaved>& saved) {
  return std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), [&saved](const auto& look) {
    return look.first.attempt == saved.first.attempt && look.second.step == step_of(saved) &&
           look.second.how != event::CheckpointSeen::How::kBroken;
  });
}

/// A later attempt went on from it.
bool resumed_from(const State& state, size_t attempt, int64_t step) {
  return step != kNoStep &&
         std::any_of(state.attempts.begin() + static_cast<ptrdiff_t>(attempt) + 1, state.attempts.end(),
                     [step](const AttemptState& later) { return later.resumed_at == step; });
}

/// The attempt's own word of being done stands behind the save, in the same log.
bool done_behind(const State& state, const Knowledge& knowledge, const Moment& save) {
  return std::any_of(state.signatures.begin(), state.signatures.end(), [&](const SignatureState& seen) {
    const Signature* signature = seen.sample ? nullptr : knowledge.find(seen.id);
    if (signature == nullptr || signature->role != Role::kBenign || signature->kind != "died-silently") return false;
    return std::any_of(seen.matches.begin(), seen.matches.end(), [&](const SignatureState::Match& match) {
      return match.moment.attempt == save.attempt && match.moment.where.source == save.where.source &&
             match.moment.where.line > save.where.line && says_training_over(match.text);
    });
  });
}

bool finished(const State& state, const Knowledge& knowledge, size_t which) {
  const auto& checked = state.checkpoints[which];
  if (done_behind(state, knowledge, checked.first)) return true;
  if (seen_well(state, checked) || resumed_from(state, checked.first.attempt, step_of(checked))) return true;
  for (size_t i = which + 1; i < state.checkpoints.size(); ++i) {
    const auto& later = state.checkpoints[i];
    if (later.first.attempt == state.checkpoints[which].first.attempt && later.second.complete &&
        step_of(later) >= step_of(state.checkpoints[which])) {
      return true;
    }
  }
  return false;
}

/// Some trainers save within a step, and record the step afterwards: its record, too, shows that training went on.
bool is_recorded_behind(const State& state, const Moment& save, int64_t step) {
  const auto behind = [&save, step](const Point& point) {
    return point.step == step && point.attempt == save.attempt && point.where.source == save.where.source &&
           point.where.line > save.where.line;
  };
  return std::any_of(state.series.begin(), state.series.end(), [&behind](const Series& series) {
    return std::any_of(series.points().rbegin(), series.points().rend(), behind);
  });
}

/// The scan of what it saved last is due, and will say more than the log.
bool is_scanned_soon(const State& state, size_t attempt) {
  if (state.closed) return false;
  const auto& all = state.supervision.attempts;
  const auto known = std::find_if(all.begin(), all.end(), [attempt](const SupervisedAttempt& one) {
    return one.number == static_cast<int64_t>(attempt) + 1 && one.started;
  });
  if (known == all.end()) return false;
  // Its log may say that it ended before that is known.
  return !known->exited || (state.last_at - supervised_end(state, *known)).seconds() < kKnobs[1].value;
}

/// A later attempt saved that step, or a later one, to the end, or it was found whole on the disk.
void resolve_by_later_attempt(const State& state, size_t attempt, int64_t step, Finding& finding) {
  std::optional<Moment> over;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt > attempt && saved.complete && saved.step >= step && (!over || moment.at < over->at))
      over = moment;
  }
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    const bool whole = seen.how == event::CheckpointSeen::How::kWhole && seen.step == step;
    if (moment.attempt > attempt && whole && (!over || moment.at < over->at)) over = moment;
  }
  finding.resolved = over.has_value();
  if (over) finding.resolved_at = *over;
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  if (state.checkpoints.empty()) return;
  const std::vector<FailureChain>& chains = memory.chains(state, knowledge);
  for (const FailureChain& chain : chains) {
    if (chain.kind == "interrupted") continue;
    size_t open = state.checkpoints.size();
    for (size_t i = 0; i < state.checkpoints.size(); ++i) {
      const auto& saved = state.checkpoints[i];
      if (saved.first.attempt == chain.attempt && !saved.second.complete && !finished(state, knowledge, i)) open = i;
    }
    if (open == state.checkpoints.size()) continue;
    const auto& [moment, saved] = state.checkpoints[open];
    const int64_t step = step_of(state.checkpoints[open]);
    const int64_t last = state.attempts[chain.attempt].last_step;
    if (step != kNoStep && last != kNoStep) {
      double after = static_cast<double>(last - step);
      if (after == kKnobs[0].value && is_recorded_behind(state, moment, step)) ++after;
      if (after > kKnobs[0].value) continue;
    }
    if (is_scanned_soon(state, chain.attempt)) continue;
    Finding finding;
    finding.kind = "checkpoint-incomplete";
    finding.detector = "checkpoint-incomplete";
    finding.severity = Severity::kWarning;
    finding.onset = chain.lead.moment;  // until then it was only under way
    finding.detected = chain.lead.moment;
    finding.summary = cat("The save at step ", step, " began and the run ended before it was finished",
                          saved.path.empty() ? std::string() : cat(": ", saved.path));
    finding.evidence.push_back({moment.where, saved.path, "", kNoStep, 0});
    finding.suggests.push_back({cause_of(chain.lead), 0.6, cat("what ended the run: ", clip(chain.lead.text, 160))});
    if (step != kNoStep) resolve_by_later_attempt(state, chain.attempt, step, finding);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector checkpoint_incomplete;
const Detector checkpoint_incomplete{"checkpoint-incomplete",
                                     "A save began, and the attempt ended before it was finished.",
                                     {"checkpoint-incomplete"},
                                     kKnobs,
                                     judge};

}  // namespace mw::detect
