#include "core/supervise/policy.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kFromScratch = "restart-from-scratch";
constexpr std::string_view kGoBack = "rollback-before-onset";  // of the reactions
constexpr int kSigInt = 2, kSigTerm = 15;
constexpr int kShellSignal = 128;         // a shell says 128 + n when its command died of signal n
constexpr int64_t kStepsAfterResume = 2;  // a failure this close behind a resume is the resume's

int ending_signal(const AttemptOutcome& attempt) {
  if (attempt.signal != 0) return attempt.signal;
  return attempt.code > kShellSignal ? attempt.code - kShellSignal : 0;
}

std::string ending(const AttemptOutcome& attempt) {
  if (!attempt.known) return "It ended, and its exit status is not known";
  if (attempt.signal != 0) return cat("It was ended by signal ", attempt.signal);
  if (attempt.unfinished && attempt.planned > 0 && attempt.last_step != kNoStep) {
    return cat("It ended with exit status 0 at step ", attempt.last_step, " of ", attempt.planned);
  }
  return cat("It ended with exit status ", attempt.code);
}

/// "engine-dead (vllm-core-proc-died)", "engine-dead", or "".
std::string failure(const AttemptOutcome& attempt) {
  if (attempt.kind.empty()) return "";
  return attempt.cause.empty() ? attempt.kind : cat(attempt.kind, " (", attempt.cause, ")");
}

bool same_failure(const AttemptOutcome& a, const AttemptOutcome& b) {
  return a.kind == b.kind && a.cause == b.cause && a.code == b.code && a.signal == b.signal;
}

bool has_checkpoints(const std::vector<AttemptOutcome>& attempts) {
  return std::any_of(attempts.begin(), attempts.end(), [](const auto& a) { return a.last_checkpoint != kNoStep; });
}

/// Attempts at the end of the history that came no further than those before them.
int without_progress(const std::vector<AttemptOutcome>& attempts) {
  const bool by_checkpoint = has_checkpoints(attempts);
  int64_t best = kNoStep;
  int spent = 0;
  for (const AttemptOutcome& attempt : attempts) {
    const int64_t reached = by_checkpoint ? attempt.last_checkpoint : attempt.last_step;
    if (reached > best) {
      best = reached;
      spent = 0;
    } else if (!attempt.provider) {
      ++spent;
    }
  }
  return spent;
}

/// Layers that give the trainer its answers: when they fail, the policy is not to blame for what it is rewarded.
bool serves_answers(std::string_view layer) {
  return layer == kEngineLayer || layer == "network" || layer == "ray" || layer == "gpu" || layer == "driver" ||
         layer == "host" || layer == "host-memory";
}

/// Why a rule of the user's own that ended the last attempt is not answered by another rollback; "" when it is.
std::string after_rule(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  const std::string step = last.onset == kNoStep ? "" : cat(" at step ", last.onset);
  if (last.reaction != kGoBack)
    return cat(failure(last), step, ": there is no checkpoint from before to roll back to.");
  const bool again = std::any_of(attempts.begin(), attempts.end() - 1, [&last](const AttemptOutcome& before) {
    const bool as_far = last.onset == kNoStep || before.last_step == kNoStep || last.onset <= before.last_step;
    return before.tripped && before.kind == last.kind && before.cause == last.cause && as_far;
  });
  return again ? cat(failure(last), " again", step, " after a rollback: a person must look.") : "";
}

std::string after_poison(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  if (last.tripped && last.kind == kFromScratch) {
    return "It began from nothing, although an earlier attempt saved a checkpoint: its command must request a resume.";
  }
  if (last.suspect != kNoStep && !last.can_roll_back) {
    return cat(failure(last), ": the checkpoints from step ", last.suspect,
               " on were saved since its onset and are tainted; roll back to one before.");
  }
  if (!last.tripped) return "";
  if (last.kind == kUserRule) return after_rule(attempts);
  const bool by_reaction = last.reaction == "restart-component" || last.reaction == "restart-run-from-checkpoint" ||
                           last.reaction == "retry";
  return last.kind == "engine-dead" || by_reaction || serves_answers(last.layer)
             ? ""
             : cat(failure(last), ": nothing shows that the infrastructure is to blame, a person must look.");
}

/// A run that stops early by a rule of its own does so again and again.
std::string may_mean_it(const std::vector<AttemptOutcome>& attempts) {
  const auto silent = [](const AttemptOutcome& one) { return one.known && one.unfinished && one.kind.empty(); };
  if (attempts.size() < 2 || !silent(attempts.back()) || !silent(attempts[attempts.size() - 2])) return "";
  return cat(ending(attempts.back()), ", the second time without an error: it may mean to, a person must look.");
}

std::string needs_somebody(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  const bool repeats = last.transient == "deterministic" || last.transient == "poison";
  if (!repeats || last.kind.empty()) return "";
  // Where an earlier attempt of the same command trained, it is not the command that is wrong: the budget decides.
  const bool ever_trained =
      std::any_of(attempts.begin(), attempts.end(), [](const AttemptOutcome& one) { return one.last_step != kNoStep; });
  if (!ever_trained) return cat(failure(last), " before the first step: a restart would repeat it.");
  if (last.reaction == "config-fix") return cat(failure(last), ": its settings must be changed first.");
  if (last.reaction == "stop-and-notify") return cat(failure(last), ": a person must look first.");
  if (last.reaction == "free-space-then-resume" && !last.made_room)
    return cat(failure(last), ": space must be made first.");
  return "";
}

std::string repeats(const std::vector<AttemptOutcome>& attempts) {
  if (attempts.size() < 2) return "";
  const AttemptOutcome& last = attempts.back();
  const AttemptOutcome& before = attempts[attempts.size() - 2];
  if (!same_failure(last, before)) return "";
  const std::string what = failure(last).empty() ? ending(last) : failure(last);
  if (last.last_step != kNoStep && last.last_step == before.last_step) {
    return cat(what, " twice at step ", last.last_step, ": it would happen again.");
  }
  if (last.resumed_at != kNoStep &&
      (last.last_step == kNoStep || last.last_step <= last.resumed_at + kStepsAfterResume)) {
    return cat(what, " again right after resuming from step ", last.resumed_at, ": it would happen again.");
  }
  return "";
}

}  // namespace

RestartDecision after_end(const std::vector<AttemptOutcome>& attempts, const RestartLimits& limits) {
  MW_CHECK(!attempts.empty());
  const AttemptOutcome& last = attempts.back();
  const auto stop = [](std::string why) { return RestartDecision{false, {}, std::move(why), 0}; };
  if (last.stop_requested) return stop("A stop was requested.");
  if (!last.started) return stop("The command could not be started.");
  if (std::string why = after_poison(attempts); !why.empty()) return stop(std::move(why));
  if (!last.known && last.finished) {
    return stop("Its exit status is not known, but its output says that it was complete.");
  }
  if (limits.restarts <= 0 && !(last.known && last.code == 0)) {
    return stop(cat(failure(last).empty() ? ending(last) : cat("It ended: ", failure(last)),
                    "; no restart is allowed, the limit is 0."));
  }
  if (last.provider) return {true, limits.first_wait, "The provider took the machine; that costs no restart.", 0};
  if (last.known && last.code == 0 && !last.unfinished) return stop("It ended by itself, with exit status 0.");
  if (const int signal = ending_signal(last); !last.tripped && (signal == kSigInt || signal == kSigTerm)) {
    return stop(cat("Somebody else ended it by ", signal == kSigInt ? "SIGINT" : "SIGTERM", "."));
  }
  if (std::string why = repeats(attempts); !why.empty()) return stop(std::move(why));
  if (std::string why = needs_somebody(attempts); !why.empty()) return stop(std::move(why));
  if (std::string why = may_mean_it(attempts); !why.empty()) return stop(std::move(why));

  const int idle = without_progress(attempts);
  if (idle > limits.restarts) {
    return stop(cat(idle, " attempts in a row came no further",
                    has_checkpoints(attempts) ? " than the last checkpoint" : "", "; the limit is ", limits.restarts,
                    "."));
  }
  Duration wait = limits.first_wait;
  for (int i = 1; i < idle && wait.ns < limits.longest_wait.ns; ++i) wait.ns *= 2;
  wait.ns = std::min(wait.ns, limits.longest_wait.ns);
  const std::string what = failure(last).empty() ? ending(last) : cat("It ended: ", failure(last));
  return {true, wait,
          cat(what, idle == 0 ? ", after progress." : cat(", without progress (", idle, " of ", limits.restarts, ").")),
          idle};
}

}  // namespace mw
