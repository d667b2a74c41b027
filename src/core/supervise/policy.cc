#include "core/supervise/policy.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kFromScratch = "restart-from-scratch";
constexpr std::string_view kGoBack = "rollback-before-onset";  // of the reactions
constexpr int kSigInt = 2, kSigKill = 9, kSigTerm = 15;
constexpr int kShellSignal = 128;                    // a shell says 128 + n when its command died of signal n
constexpr int64_t kStepsAfterResume = 2;             // a failure this close behind a resume is the resume's
constexpr Duration kAtOnce = Duration::seconds(60);  // a large model takes longer to load
constexpr size_t kSaidLimit = 120;                   // bytes of a line that is quoted
constexpr std::string_view kStall = "stall", kNonFinite = "non-finite";

RestartDecision stop(EndClass end, std::string why) { return {end, false, {}, std::move(why), 0}; }

int ending_signal(const AttemptOutcome& attempt) {
  if (attempt.signal != 0) return attempt.signal;
  return attempt.code > kShellSignal ? attempt.code - kShellSignal : 0;
}

/// " at step 40 of 200", or "".
std::string place_in_plan(const AttemptOutcome& attempt) {
  if (attempt.planned <= 0 || attempt.last_step == kNoStep) return "";
  return cat(" at step ", attempt.last_step, " of ", attempt.planned);
}

std::string ending(const AttemptOutcome& attempt) {
  if (!attempt.known) return "It ended, and its exit status is not known";
  if (attempt.signal != 0) return cat("It was ended by signal ", attempt.signal);
  if (attempt.unfinished && attempt.planned > 0 && attempt.last_step != kNoStep) {
    return cat("It ended with exit status 0", place_in_plan(attempt));
  }
  return cat("It ended with exit status ", attempt.code);
}

/// "engine-dead (vllm-core-proc-died)", "engine-dead", or "".
std::string failure(const AttemptOutcome& attempt) {
  if (attempt.kind.empty()) return "";
  return attempt.cause.empty() ? attempt.kind : cat(attempt.kind, " (", attempt.cause, ")");
}

bool same_failure(const AttemptOutcome& last, const AttemptOutcome& before) {
  return !last.new_error && last.kind == before.kind && last.cause == before.cause && last.code == before.code &&
         last.signal == before.signal;
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

/// The last attempt trained a step that none before it had come to.
bool came_further(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  return last.last_step != kNoStep && std::all_of(attempts.begin(), attempts.end() - 1, [&last](const auto& before) {
           return before.last_step < last.last_step;
         });
}

/// It saved, or at least trained, what none before it had.
bool made_progress(const std::vector<AttemptOutcome>& attempts) {
  return without_progress(attempts) == 0 || came_further(attempts);
}

/// Layers that give the trainer its answers: when they fail, the policy is not to blame for what it is rewarded.
bool serves_answers(std::string_view layer) {
  return layer == kEngineLayer || layer == "network" || layer == "ray" || layer == "gpu" || layer == "driver" ||
         layer == "host" || layer == "host-memory";
}

/// What gives the rewards failed, as the log says: it has to answer again before anything is learnt.
bool lacks_rewards(std::string_view cause) {
  constexpr std::array<std::string_view, 4> kServices = {"judge-api-error", "remote-reward-model-down",
                                                         "sandbox-execution-failed", "env-server-crash-empty-outputs"};
  return std::find(kServices.begin(), kServices.end(), cause) != kServices.end();
}

/// Why what ended the last attempt (a rule of the user's own, numbers that are not finite) is not answered by another
/// rollback; "" when it is.
std::string after_rollback(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  const std::string step = last.onset == kNoStep ? "" : cat(" at step ", last.onset);
  // The reaction knows the saves of all attempts, as they were known at the onset; the rest is what lies there now.
  const bool can_go_back = (last.kind == kUserRule && last.reaction == kGoBack) || last.last_checkpoint != kNoStep ||
                           last.resumed_at != kNoStep || (last.suspect != kNoStep && last.can_roll_back);
  if (!can_go_back) {
    return cat(failure(last), step, ": there is no checkpoint from before to roll back to",
               has_checkpoints(attempts) ? "." : "; none is known at all: --checkpoints DIR says where they lie.");
  }
  const bool again = std::any_of(attempts.begin(), attempts.end() - 1, [&last](const AttemptOutcome& before) {
    const bool as_far = last.onset == kNoStep || before.last_step == kNoStep || last.onset <= before.last_step;
    return before.tripped && before.kind == last.kind && before.cause == last.cause && as_far;
  });
  return again ? cat(failure(last), " again", step, " after a rollback: a person must look.") : "";
}

std::string after_poison(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  if (last.tripped && last.kind == kFromScratch) {
    const std::string at = last.first_step == kNoStep ? "" : cat(" at step ", last.first_step);
    return cat("It began from nothing", at, ", although a checkpoint of this run was there, and was ended",
               last.last_step == kNoStep ? "" : cat(" at step ", last.last_step),
               ": its command must request a resume (with {resume} in it midwatch does), and the trainer "
               "heed that and look where that checkpoint lies. "
               "--from-scratch lets it begin anew.");
  }
  if (last.suspect != kNoStep && !last.can_roll_back) {
    return cat(
        failure(last), ": the checkpoints from step ", last.suspect, " on were saved since its onset and are tainted; ",
        last.kind == kUserRule && last.onset == kNoStep && last.resumed_at == kNoStep ? "none of before is known."
                                                                                      : "roll back to one before.");
  }
  if (!last.tripped) return "";
  if (last.kind == kUserRule || last.kind == kNonFinite) return after_rollback(attempts);
  if (last.kind == kStall) return "";
  const bool by_reaction = last.reaction == "restart-component" || last.reaction == "restart-run-from-checkpoint" ||
                           last.reaction == "retry";
  if (last.kind == "engine-dead" || by_reaction || serves_answers(last.layer)) return "";
  return lacks_rewards(last.cause)
             ? cat(failure(last), ": what gives the rewards fails, and must answer again before the run goes on.")
             : cat(failure(last), ": nothing shows that the infrastructure is to blame, a person must look.");
}

/// A run that stops early by a rule of its own does so again and again.
std::string may_mean_it(const std::vector<AttemptOutcome>& attempts) {
  const auto silent = [](const AttemptOutcome& one) { return one.known && one.unfinished && one.kind.empty(); };
  if (attempts.size() < 2 || !silent(attempts.back()) || !silent(attempts[attempts.size() - 2])) return "";
  return cat(ending(attempts.back()), ", the second time without an error: it may mean to, a person must look.");
}

bool ever_trained(const std::vector<AttemptOutcome>& attempts) {
  return std::any_of(attempts.begin(), attempts.end(),
                     [](const auto& one) { return one.last_step != kNoStep || one.last_checkpoint != kNoStep; });
}

bool known_to_repeat(const AttemptOutcome& attempt) {
  return !attempt.kind.empty() && (attempt.transient == "deterministic" || attempt.transient == "poison");
}

std::string needs_somebody(const std::vector<AttemptOutcome>& attempts) {
  const AttemptOutcome& last = attempts.back();
  if (!known_to_repeat(last)) return "";
  if (last.reaction == "free-space-then-resume" && !last.made_room)
    return cat(failure(last), ": space must be made first.");
  // No two batches of reinforcement learning are the same: what came further than ever may do so again.
  if (last.transient != "poison" && made_progress(attempts)) return "";
  if (last.reaction == "config-fix") return cat(failure(last), ": its settings must be changed first.");
  if (last.reaction == "stop-and-notify") return cat(failure(last), ": a person must look first.");
  return "";
}

std::string dies_at_once(const std::vector<AttemptOutcome>& attempts) {
  const auto short_lived = [](const AttemptOutcome& one) {
    const bool passes = one.transient == "likely-transient" || one.transient == "degraded";
    return one.known && !passes && one.lasted.ns > 0 && one.lasted.ns < kAtOnce.ns;
  };
  if (attempts.size() < 2 || ever_trained(attempts)) return "";
  const AttemptOutcome &last = attempts.back(), &before = attempts[attempts.size() - 2];
  if (!short_lived(last) || !short_lived(before) || !same_failure(last, before)) return "";
  return cat(ending(last), " within ", format_duration(last.lasted),
             ", the second time, and no step was ever done: it would happen again.");
}

EndClass class_of_failure(const AttemptOutcome& last) {
  if (last.tripped && last.kind == kStall) return EndClass::kHung;
  if (last.tripped && last.kind == kUserRule) return EndClass::kRule;
  if (last.suspect != kNoStep || (last.tripped && !serves_answers(last.layer) && last.kind != "engine-dead"))
    return EndClass::kPoisoned;
  if (last.known && last.code == 0) return EndClass::kFellShort;
  const bool passes = last.transient == "likely-transient" || last.transient == "degraded";
  return passes || serves_answers(last.layer) || last.kind == "engine-dead" ? EndClass::kTransient : EndClass::kUnknown;
}

/// Of what ended an attempt that failed, and may be started again: why it is not; "" when it is.
std::string out_of_budget(const std::vector<AttemptOutcome>& attempts, const RestartLimits& limits, int idle) {
  if (idle > limits.restarts) {
    return cat(idle, " attempts in a row came no further", has_checkpoints(attempts) ? " than the last checkpoint" : "",
               "; the limit is ", limits.restarts, ".");
  }
  const auto counted = std::count_if(attempts.begin(), attempts.end(), [](const auto& one) { return !one.provider; });
  return counted > limits.total ? cat("It was started again ", limits.total, " times in all; that is the limit.") : "";
}

/// Ends that are no failure, and those that are decided without looking at the history of failures.
std::optional<RestartDecision> not_a_failure(const std::vector<AttemptOutcome>& attempts, const RestartLimits& limits) {
  const AttemptOutcome& last = attempts.back();
  if (last.stop_requested && !last.stopped_for.empty()) return stop(EndClass::kComponent, last.stopped_for);
  if (last.stop_requested) {
    return stop(EndClass::kStopRequested,
                cat("A stop was requested.", last.trains_on.empty() ? "" : " ", last.trains_on));
  }
  if (!last.started) return stop(EndClass::kNotStarted, "The command could not be started.");
  if (!last.trains_on.empty()) return stop(EndClass::kElsewhere, last.trains_on);
  if (std::string why = after_poison(attempts); !why.empty()) {
    return stop(last.tripped && last.kind == kFromScratch ? EndClass::kBadResume
                : last.tripped && last.kind == kUserRule  ? EndClass::kRule
                                                          : EndClass::kPoisoned,
                std::move(why));
  }
  if (!last.known && last.finished)
    return stop(EndClass::kFinished, "Its exit status is not known, but its output says that it was complete.");
  if (!last.provider && last.known && last.code == 0 && !last.said.empty()) {
    return stop(last.from_outside ? EndClass::kInterrupted : EndClass::kFinished,
                cat(last.from_outside ? "It was stopped from outside and ended with exit status 0"
                                      : "It ended by itself, with exit status 0",
                    place_in_plan(last), "; its log says: \"", clip(last.said, kSaidLimit), "\"."));
  }
  if (limits.restarts <= 0 && !(last.known && last.code == 0 && !last.unfinished)) {
    return stop(last.provider ? EndClass::kProvider : class_of_failure(last),
                cat(failure(last).empty() ? ending(last) : cat("It ended: ", failure(last)),
                    "; no restart is allowed, the limit is 0."));
  }
  if (last.provider)
    return RestartDecision{EndClass::kProvider, true, limits.first_wait,
                           "The provider took the machine; that costs no restart.", 0};
  if (last.known && last.code == 0 && !last.unfinished)
    return stop(EndClass::kFinished, "It ended by itself, with exit status 0.");
  if (!last.time_limit.empty())
    return stop(EndClass::kInterrupted, cat("Its own command's time limit ended it: ", last.time_limit, "."));
  if (const int signal = ending_signal(last); !last.tripped && (signal == kSigInt || signal == kSigTerm))
    return stop(EndClass::kInterrupted,
                cat("Somebody else ended it by ", signal == kSigInt ? "SIGINT" : "SIGTERM", "."));
  return std::nullopt;
}

/// An outage of what lies around the run (a network, a server elsewhere, another rank's machine, a kill by somebody
/// else) is not of the step at which it came: that it lasts until the next attempt shows nothing of that step.
bool is_passing_outage(const AttemptOutcome& attempt) {
  if (attempt.tripped) return false;
  const bool unexplained = attempt.kind.empty() || attempt.kind == "crash" || attempt.kind == "died-silently";
  if (ending_signal(attempt) == kSigKill && unexplained) return true;
  const bool passes = attempt.transient == "likely-transient" || attempt.transient == "degraded";
  return passes && (attempt.kind == "network" || attempt.kind == "engine-dead" || attempt.kind == "environment-fault" ||
                    attempt.kind == "collective-timeout");
}

std::string repeats(const std::vector<AttemptOutcome>& attempts) {
  if (attempts.size() < 2 || is_passing_outage(attempts.back())) return "";
  const AttemptOutcome& last = attempts.back();
  const AttemptOutcome& before = attempts[attempts.size() - 2];
  if (!same_failure(last, before)) return "";
  const std::string what = failure(last).empty() ? ending(last) : failure(last);
  if (last.last_step != kNoStep && last.last_step == before.last_step) {
    return cat(what, " twice at step ", last.last_step, ": it would happen again.");
  }
  // Whatever lies behind the resume, the step at which it fails moves on: the budget bounds how often.
  if (made_progress(attempts)) return "";
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
  if (auto decided = not_a_failure(attempts, limits)) return *decided;
  if (std::string why = repeats(attempts); !why.empty()) return stop(EndClass::kSameStep, std::move(why));
  if (std::string why = dies_at_once(attempts); !why.empty()) return stop(EndClass::kDiesAtOnce, std::move(why));
  if (known_to_repeat(last) && !ever_trained(attempts)) {
    return stop(EndClass::kBeforeStep, cat(failure(last), " before the first step: a restart would repeat it."));
  }
  if (std::string why = needs_somebody(attempts); !why.empty()) return stop(EndClass::kNeedsChange, std::move(why));
  if (std::string why = may_mean_it(attempts); !why.empty()) return stop(EndClass::kFellShort, std::move(why));

  const int idle = without_progress(attempts);
  const EndClass end = class_of_failure(last);
  if (std::string why = out_of_budget(attempts, limits, idle); !why.empty()) return stop(end, std::move(why));
  Duration wait = limits.first_wait;
  for (int i = 1; i < idle && wait.ns < limits.longest_wait.ns; ++i) wait.ns *= 2;
  wait.ns = std::min(wait.ns, limits.longest_wait.ns);
  const std::string what = failure(last).empty() ? ending(last) : cat("It ended: ", failure(last));
  return {end, true, wait,
          cat(what, idle == 0 ? ", after progress." : cat(", without progress (", idle, " of ", limits.restarts, ").")),
          idle};
}

}  // namespace mw
