#include "core/supervise/policy.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

/// Trained steps `from` to `to`, then failed by `kind`.
AttemptOutcome failed(int64_t from, int64_t to, std::string kind = "crash",
                      std::string transient = "likely-transient") {
  AttemptOutcome attempt;
  attempt.code = 1;
  attempt.first_step = from;
  attempt.last_step = to;
  attempt.resumed_at = from > 1 ? from - 1 : kNoStep;
  attempt.kind = std::move(kind);
  attempt.cause = "some-cause";
  attempt.transient = std::move(transient);
  attempt.reaction = "restart-run-from-checkpoint";
  return attempt;
}

TEST_CASE("no restart is allowed: none, whatever the progress") {
  AttemptOutcome one;
  one.code = -1;
  one.signal = 9;
  one.last_step = 20;
  one.last_checkpoint = 20;
  RestartLimits limits;
  CHECK(after_end({one}, limits).restart);
  limits.restarts = 0;
  CHECK_FALSE(after_end({one}, limits).restart);
  one.provider = true;
  CHECK_FALSE(after_end({one}, limits).restart);
}

TEST_CASE("nobody knows how it ended: what it wrote decides") {
  AttemptOutcome one;
  one.known = false;
  one.last_step = 20;
  CHECK(after_end({one}, RestartLimits()).restart);
  one.finished = true;
  CHECK_FALSE(after_end({one}, RestartLimits()).restart);
}

TEST_CASE("an end that needs no restart") {
  AttemptOutcome good = failed(1, 100);
  good.code = 0;
  CHECK_FALSE(after_end({good}, {}).restart);
  AttemptOutcome stopped = failed(1, 100);
  stopped.stop_requested = true;
  CHECK(after_end({stopped}, {}).why == "A stop was requested.");
  stopped.trains_on = "It may go on.";
  CHECK(after_end({stopped}, {}).why == "A stop was requested. It may go on.");
  for (const auto& [code, signal] : {std::pair{-1, 2}, {-1, 15}, {130, 0}, {143, 0}}) {
    AttemptOutcome ended = failed(1, 100);
    ended.code = code;
    ended.signal = signal;
    CHECK_FALSE(after_end({ended}, {}).restart);
  }
  AttemptOutcome never;
  never.started = false;
  CHECK(after_end({never}, {}).why == "The command could not be started.");
}

TEST_CASE("a status of 0 that its files belie is a failure; twice without an error it may be meant") {
  AttemptOutcome died = failed(1, 20);
  died.code = 0;
  died.unfinished = true;
  died.planned = 40;
  CHECK(after_end({died}, {}).restart);
  AttemptOutcome silent = died;
  silent.kind = silent.cause = "";
  const RestartDecision once = after_end({silent}, {});
  CHECK(once.restart);
  CHECK(once.why == "It ended with exit status 0 at step 20 of 40, after progress.");
  AttemptOutcome again = silent;
  again.first_step = 15;
  again.resumed_at = 14;
  again.last_step = 30;
  CHECK_FALSE(after_end({silent, again}, {}).restart);
  CHECK(after_end({died, again}, {}).restart);
  silent.stop_requested = true;
  CHECK_FALSE(after_end({silent}, {}).restart);
}

TEST_CASE("a killed trainer is started again at once, as it had made progress") {
  AttemptOutcome killed = failed(1, 40, "");
  killed.code = -1;
  killed.signal = 9;
  killed.cause = "";
  const RestartDecision decision = after_end({killed}, {});
  CHECK(decision.restart);
  CHECK(decision.spent == 0);
  CHECK(decision.wait.seconds() == 10);
  CHECK(decision.why == "It was ended by signal 9, after progress.");
}

TEST_CASE("the wait doubles and the budget ends without progress; progress gives both back") {
  RestartLimits limits;
  limits.restarts = 3;
  limits.longest_wait = Duration::seconds(30);
  std::vector<AttemptOutcome> attempts{failed(1, 50)};
  const double waits[] = {10, 20, 30};
  for (int i = 0; i < 3; ++i) {
    attempts.push_back(failed(1, 40 - i, "network"));  // not as far, and not at the same step
    attempts.back().resumed_at = kNoStep;
    const RestartDecision decision = after_end(attempts, limits);
    CHECK(decision.restart);
    CHECK(decision.spent == i + 1);
    CHECK(decision.wait.seconds() == waits[i]);
  }
  attempts.push_back(failed(1, 20, "network"));
  attempts.back().resumed_at = kNoStep;
  CHECK_FALSE(after_end(attempts, limits).restart);
  attempts.back() = failed(1, 60, "network");
  CHECK(after_end(attempts, limits).restart);
  CHECK(after_end(attempts, limits).spent == 0);
}

TEST_CASE("what broke the training on bad data: the layers that give answers are restarted, the learning is not") {
  const auto restarts = [](const char* kind, const char* layer, const char* reaction) {
    AttemptOutcome tripped = failed(1, 40, kind);
    tripped.tripped = true;
    tripped.layer = layer;
    tripped.reaction = reaction;
    return after_end({tripped}, {}).restart;
  };
  for (const char* layer : {"engine", "network", "ray", "gpu", "driver", "host", "host-memory"}) {
    CAPTURE(std::string(layer));
    CHECK(restarts("zero-reward", layer, "stop-and-notify"));
  }
  for (const char* reaction : {"restart-component", "restart-run-from-checkpoint", "retry"}) {
    CAPTURE(std::string(reaction));
    CHECK(restarts("zero-reward", "learning-dynamics", reaction));
  }
  CHECK(restarts("engine-dead", "", "stop-and-notify"));
  CHECK_FALSE(restarts("zero-reward", "learning-dynamics", "stop-and-notify"));
  CHECK_FALSE(restarts("zero-reward", "reward", "config-fix"));
}

TEST_CASE("what a restart would repeat waits for what mends it, unless it came further than ever") {
  for (const char* reaction : {"config-fix", "stop-and-notify"}) {
    CAPTURE(std::string(reaction));
    AttemptOutcome last = failed(1, 40, "config-error", "deterministic");
    last.reaction = reaction;
    CHECK(after_end({last}, {}).restart);
    CHECK_FALSE(after_end({failed(1, 50), last}, {}).restart);
    last.transient = "poison";
    CHECK_FALSE(after_end({last}, {}).restart);
    last.transient = "likely-transient";
    CHECK(after_end({failed(1, 50), last}, {}).restart);
  }
  AttemptOutcome full = failed(1, 40, "disk-full", "deterministic");
  full.reaction = "free-space-then-resume";
  CHECK_FALSE(after_end({full}, {}).restart);
  full.made_room = true;
  CHECK(after_end({full}, {}).restart);
}

TEST_CASE("a command that ends within a minute and never trains is started twice") {
  AttemptOutcome one;
  one.code = 3;
  one.lasted = Duration::seconds(0.2);
  CHECK(after_end({one}, {}).restart);
  CHECK(
      after_end({one, one}, {}).why ==
      "It ended with exit status 3 within 200 ms, the second time, and no step was ever done: it would happen again.");
  AttemptOutcome other = one;
  other.code = 4;
  CHECK(after_end({one, other}, {}).restart);
  AttemptOutcome slow = one;
  slow.lasted = Duration::seconds(90);
  CHECK(after_end({slow, slow}, {}).restart);
  CHECK(after_end({failed(1, 50), one, one}, {}).restart);  // the same command trained before
  one.transient = "likely-transient";
  CHECK(after_end({one, one}, {}).restart);
}

TEST_CASE("the budget of the whole run holds whatever the progress; what the provider does is not counted") {
  RestartLimits limits;
  limits.total = 3;
  std::vector<AttemptOutcome> attempts;
  for (int i = 0; i < 3; ++i) attempts.push_back(failed(1 + 50 * i, 45 + 50 * i));
  CHECK(after_end(attempts, limits).restart);
  attempts.push_back(attempts.back());
  attempts.back().provider = true;
  CHECK(after_end(attempts, limits).restart);
  attempts.push_back(failed(401, 450));
  CHECK(after_end(attempts, limits).why == "It was started again 3 times in all; that is the limit.");
}

TEST_CASE("progress is measured by checkpoints where there are any") {
  AttemptOutcome first = failed(1, 90);
  first.last_checkpoint = 80;
  AttemptOutcome second = failed(81, 95, "worker-lost");  // further, but nothing saved
  CHECK(after_end({first, second}, {}).spent == 1);
  second.last_checkpoint = 90;
  CHECK(after_end({first, second}, {}).spent == 0);
}

TEST_CASE("what failed twice in the same way at the same place is not tried a third time") {
  CHECK_FALSE(after_end({failed(1, 57), failed(51, 57)}, {}).restart);
  CHECK(after_end({failed(1, 57), failed(51, 58)}, {}).restart);
  CHECK(after_end({failed(1, 57), failed(51, 57, "network")}, {}).restart);
  CHECK_FALSE(after_end({failed(1, 57), failed(51, 52)}, {}).restart);  // right behind a resume
  CHECK(after_end({failed(1, 57), failed(58, 59)}, {}).restart);        // but further than before
  AttemptOutcome other = failed(51, 57);
  other.new_error = true;  // of the same kind and cause, and yet not the same
  CHECK(after_end({failed(1, 57), other}, {}).restart);
  AttemptOutcome silent = failed(1, 57, "");
  silent.cause = "";
  CHECK(after_end({silent, silent}, {}).why == "It ended with exit status 1 twice at step 57: it would happen again.");
}

TEST_CASE("an outage that lasts until the next attempt is not that step's, and the budget counts it") {
  const char* kinds[] = {"network", "engine-dead", "environment-fault", "collective-timeout"};
  for (const char* kind : kinds) {
    CAPTURE(std::string(kind));
    std::vector<AttemptOutcome> attempts{failed(1, 7, kind)};
    attempts.back().last_checkpoint = 5;
    for (int i = 1; i <= 5; ++i) {
      attempts.push_back(failed(6, i == 1 ? 6 : 7, kind));  // right behind the resume, then at the same step
      const RestartDecision decision = after_end(attempts, {});
      CHECK(decision.restart);
      CHECK(decision.spent == i);
    }
    attempts.push_back(attempts.back());
    CHECK(after_end(attempts, {}).why ==
          "6 attempts in a row came no further than the last checkpoint; the limit is 5.");
    AttemptOutcome broken = failed(6, 7, kind, "deterministic");
    CHECK_FALSE(after_end({broken, broken}, {}).restart);
  }
  AttemptOutcome killed = failed(1, 57, "crash");
  killed.code = -1, killed.signal = 9;
  CHECK(after_end({killed, killed}, {}).restart);
  killed.kind = "host-out-of-memory";  // what it needs it will need again
  CHECK_FALSE(after_end({killed, killed}, {}).restart);
  killed.kind = "stall", killed.tripped = true;
  CHECK_FALSE(after_end({killed, killed}, {}).restart);
}

TEST_CASE("further than any attempt before is progress enough, though no save lies between") {
  AttemptOutcome first = failed(1, 14, "code-error", "deterministic"), second = first;
  first.reaction = second.reaction = "stop-and-notify";
  first.last_checkpoint = second.last_checkpoint = 10;
  second.resumed_at = 10, second.last_step = 17;
  CHECK(after_end({first, second}, {}).restart);
  CHECK(after_end({first, second}, {}).spent == 1);
  AttemptOutcome third = second;
  CHECK_FALSE(after_end({first, second, third}, {}).restart);  // the same step again
  third.last_step = 15;
  CHECK_FALSE(after_end({first, second, third}, {}).restart);
}

TEST_CASE("a failure right behind a resume is no repetition while its step moves on") {
  std::vector<AttemptOutcome> attempts;
  for (int64_t i = 0; i < 7; ++i) {  // steps 1 to 11, then again from 10: 11 to 12, 11 to 13, …; none saves anew
    attempts.push_back(failed(i == 0 ? 1 : 11, 11 + i, "code-error", "deterministic"));
    attempts.back().last_checkpoint = 10;
    attempts.back().reaction = "stop-and-notify";
    const RestartDecision decision = after_end(attempts, {});
    CHECK(decision.restart == (i < 6));  // the budget ends it
    CHECK(decision.spent == (i < 6 ? i : 0));
  }
  attempts.resize(2);
  attempts.push_back(failed(11, 11, "code-error", "deterministic"));
  attempts.back().last_checkpoint = 10;
  CHECK(after_end(attempts, {}).why ==
        "code-error (some-cause) again right after resuming from step 10: it would happen again.");
  attempts.back().last_checkpoint = 11;  // what it saved is progress
  CHECK(after_end(attempts, {}).restart);
}

TEST_CASE("what is known to repeat waits for somebody") {
  AttemptOutcome start = failed(kNoStep, kNoStep, "config-error", "deterministic");
  CHECK(after_end({start}, {}).why == "config-error (some-cause) before the first step: a restart would repeat it.");
  CHECK(after_end({failed(1, 50, "network"), start}, {}).restart);  // the same command trained before
  AttemptOutcome space = failed(1, 50, "disk-full", "deterministic");
  space.reaction = "free-space-then-resume";
  CHECK_FALSE(after_end({space}, {}).restart);
  AttemptOutcome lost = failed(1, 50, "engine-dead", "deterministic");
  lost.reaction = "restart-component";
  CHECK(after_end({lost}, {}).restart);
}

TEST_CASE("after the breaker: again from a good checkpoint, or a person must look") {
  AttemptOutcome tripped = failed(1, 77, "engine-dead");
  tripped.code = -1;
  tripped.signal = 9;
  tripped.tripped = true;
  tripped.last_checkpoint = 60;
  CHECK(after_end({tripped}, {}).restart);
  AttemptOutcome suspect = tripped;
  suspect.suspect = 80;
  CHECK(after_end({suspect}, {}).why ==
        "engine-dead (some-cause): the checkpoints from step 80 on were saved since its onset and are tainted; roll "
        "back to one before.");
  AttemptOutcome served = tripped;
  served.kind = "zero-reward";
  served.reaction = "rollback-before-onset";
  CHECK_FALSE(after_end({served}, {}).restart);
  served.layer = kEngineLayer;
  CHECK(after_end({served}, {}).restart);
  AttemptOutcome judge = tripped;
  judge.kind = "zero-reward";
  judge.cause = "judge-api-error";
  judge.reaction = "stop-and-notify";
  CHECK(after_end({judge}, {}).why ==
        "zero-reward (judge-api-error): what gives the rewards fails, and must answer again before the run goes on.");
  suspect.can_roll_back = true;
  CHECK(after_end({suspect}, {}).restart);
  AttemptOutcome scratch = tripped;
  scratch.kind = "restart-from-scratch";
  CHECK(after_end({scratch}, {}).why ==
        "It began from nothing at step 1, although a checkpoint of this run was there, and was ended at step 77: "
        "its command must request a resume (with {resume} in it midwatch does), and the trainer heed that "
        "and look where that checkpoint lies. --from-scratch lets it begin anew.");
  AttemptOutcome policy = tripped;
  policy.kind = "zero-reward";
  policy.reaction = "stop-and-notify";
  CHECK_FALSE(after_end({policy}, {}).restart);
}

TEST_CASE("after a rule of the user's own: once more from before it, and never in a circle") {
  AttemptOutcome tripped = failed(1, 30, std::string(kUserRule), "");
  tripped.code = -1;
  tripped.signal = 9;
  tripped.tripped = tripped.can_roll_back = true;
  tripped.cause = "rule.low";
  tripped.reaction = "rollback-before-onset";
  tripped.onset = tripped.suspect = 25;
  CHECK(after_end({tripped}, {}).restart);
  AttemptOutcome counted = tripped;  // its checkpoints are known by their number and their time alone
  counted.kind = "non-finite";
  counted.last_checkpoint = counted.resumed_at = kNoStep;
  CHECK(after_end({counted}, {}).restart);
  counted.can_roll_back = false;
  CHECK_FALSE(after_end({counted}, {}).restart);
  AttemptOutcome nowhere = tripped;
  nowhere.reaction = "stop-and-notify";
  nowhere.last_checkpoint = nowhere.suspect = kNoStep;
  nowhere.can_roll_back = false;
  CHECK(after_end({nowhere}, {}).why ==
        "user-rule (rule.low) at step 25: there is no checkpoint from before to roll back to; none is known at all: "
        "--checkpoints DIR says where they lie.");
  nowhere.last_checkpoint = 20;  // that was found whole once the attempt was over; its log never said so
  CHECK(after_end({nowhere}, {}).restart);
  nowhere.last_checkpoint = nowhere.suspect = 25;
  CHECK_FALSE(after_end({nowhere}, {}).restart);  // nothing lies before it
  AttemptOutcome again = tripped;
  again.first_step = 21;
  again.resumed_at = 20;
  again.onset = 28;
  again.last_step = 33;
  CHECK(after_end({tripped, again}, {}).why ==
        "user-rule (rule.low) again at step 28 after a rollback: a person must look.");
  CHECK_FALSE(after_end({tripped, failed(21, 26), again}, {}).restart);  // whatever came between
  again.cause = "rule.high";
  CHECK(after_end({tripped, again}, {}).restart);  // another one
  again.cause = "rule.low";
  again.onset = 31;
  CHECK(after_end({tripped, again}, {}).restart);  // it had come further
  again.onset = kNoStep;
  CHECK_FALSE(after_end({tripped, again}, {}).restart);
}

TEST_CASE("what the provider did costs nothing") {
  AttemptOutcome taken = failed(1, 50, "preempted");
  taken.provider = true;
  std::vector<AttemptOutcome> attempts(20, taken);
  const RestartDecision decision = after_end(attempts, {});
  CHECK(decision.restart);
  CHECK(decision.spent == 0);
}

TEST_CASE("a run that saved has trained, though no record of a step was read") {
  AttemptOutcome failed;
  failed.started = failed.known = true;
  failed.code = 1;
  failed.kind = "code-error";
  failed.transient = "deterministic";
  CHECK(after_end({failed}, {}).why == "code-error before the first step: a restart would repeat it.");
  failed.last_checkpoint = 10;
  CHECK(after_end({failed}, {}).restart);
}

}  // namespace
}  // namespace mw
