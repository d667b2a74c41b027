// docs/restart-policy.md, made from the table of classes and from what after_end() decides for an example of each.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/text.h"
#include "core/supervise/policy.h"

namespace mw {
namespace {

/// An attempt that trained steps `from` to `to` of 200 and then failed; it saved every tenth step.
AttemptOutcome failed(int64_t from, int64_t to) {
  AttemptOutcome attempt;
  attempt.code = 1;
  attempt.lasted = Duration::seconds(3600);
  attempt.first_step = from;
  attempt.last_step = to;
  attempt.planned = 200;
  attempt.resumed_at = from > 1 ? from - 1 : kNoStep;
  if (to >= 10) attempt.last_checkpoint = to / 10 * 10;
  return attempt;
}

/// Of an attempt that came no further than loading its model.
AttemptOutcome never_trained() {
  AttemptOutcome attempt = failed(kNoStep, kNoStep);
  attempt.resumed_at = kNoStep;
  attempt.lasted = Duration::seconds(4);
  return attempt;
}

AttemptOutcome by(AttemptOutcome attempt, const char* kind, const char* cause, const char* transient,
                  const char* reaction) {
  attempt.kind = kind;
  attempt.cause = cause;
  attempt.transient = transient;
  attempt.reaction = reaction;
  return attempt;
}

AttemptOutcome tripped(AttemptOutcome attempt, const char* kind, int64_t onset) {
  attempt.tripped = attempt.can_roll_back = true;
  attempt.code = -1;
  attempt.signal = 9;
  attempt.kind = kind;
  attempt.onset = onset;
  return attempt;
}

AttemptOutcome with(AttemptOutcome attempt, const std::function<void(AttemptOutcome&)>& change) {
  change(attempt);
  return attempt;
}

struct Example {
  EndClass end;
  std::string what;  ///< of which the last attempt is an example
  std::vector<AttemptOutcome> attempts;
  bool restart;
};

void add_ends(std::vector<Example>& all) {
  const AttemptOutcome done = with(failed(1, 200), [](auto& one) { one.code = 0; });
  all.push_back({EndClass::kFinished, "exit status 0 at step 200 of 200", {done}, false});
  all.push_back({EndClass::kFinished,
                 "exit status not known, its output says \"done\"",
                 {with(done, [](auto& one) { one.known = false, one.finished = true; })},
                 false});
  const AttemptOutcome early = with(failed(1, 40), [](auto& one) { one.code = 0, one.unfinished = true; });
  all.push_back({EndClass::kFellShort, "exit status 0 at step 40 of 200, once", {early}, true});
  const AttemptOutcome again = with(early, [](auto& one) { one.last_step = 50, one.resumed_at = 40; });
  all.push_back({EndClass::kFellShort, "the same twice, without any error", {early, again}, false});
  all.push_back({EndClass::kStopRequested,
                 "`midwatch stop`",
                 {with(failed(1, 40), [](auto& one) { one.stop_requested = true; })},
                 false});
  all.push_back({EndClass::kComponent,
                 "a judge that was started anew 5 times in a row and never stayed",
                 {with(failed(1, 40),
                       [](auto& one) {
                         one.stop_requested = true;
                         one.stopped_for = "Component judge is down, and 5 restarts in a row did not help.";
                       })},
                 false});
  all.push_back({EndClass::kInterrupted,
                 "SIGTERM from elsewhere",
                 {with(failed(1, 40), [](auto& one) { one.code = -1, one.signal = 15; })},
                 false});
  all.push_back({EndClass::kFinished,
                 "exit status 0 at step 40 of 200 behind a word of its own rule: early stopping, a time limit",
                 {with(early,
                       [](auto& one) {
                         one.unfinished = false;
                         one.said = "max_time 00:30:00 reached. Stopping.";
                       })},
                 false});
  all.push_back({EndClass::kInterrupted,
                 "SIGTERM from elsewhere that the trainer handles: it says so, saves, exit status 0 at step 40 of 200",
                 {with(early,
                       [](auto& one) {
                         one.said = "Received SIGTERM, saving checkpoint before exit";
                         one.from_outside = true;
                       })},
                 false});
  all.push_back({EndClass::kInterrupted,
                 "`timeout 8h` in the command, exit status 124",
                 {with(failed(1, 40), [](auto& one) { one.code = 124, one.time_limit = "timeout 8h"; })},
                 false});
  all.push_back({EndClass::kElsewhere,
                 "`docker run` lost Docker's daemon, exit status 125",
                 {with(failed(1, 40), [](auto& one) { one.code = 125, one.trains_on = "It may go on."; })},
                 false});
  const AttemptOutcome taken = with(failed(1, 40), [](auto& one) { one.provider = true; });
  all.push_back({EndClass::kProvider, "the provider's notice, however often", {taken, taken, taken}, true});
  AttemptOutcome never = never_trained();
  never.started = false;
  all.push_back({EndClass::kNotStarted, "the program is not there", {never}, false});
}

void add_failures(std::vector<Example>& all) {
  const AttemptOutcome network = by(failed(1, 40), "network", "connection-refused", "likely-transient", "retry");
  all.push_back({EndClass::kTransient, "a server did not answer at step 40", {network}, true});
  AttemptOutcome stuck = by(failed(41, 45), "network", "timeout", "likely-transient", "retry");
  stuck.last_checkpoint = kNoStep;
  std::vector<AttemptOutcome> budget{network};
  for (int i = 0; i < 6; ++i) budget.push_back(with(stuck, [i](auto& one) { one.last_step += i; }));
  const AttemptOutcome lasts = with(network, [](auto& one) { one.resumed_at = 40, one.last_step = 41; });
  all.push_back({EndClass::kTransient, "the same again one step behind the resume: it lasts", {network, lasts}, true});
  all.push_back({EndClass::kTransient, "six in a row that saved nothing new", budget, false});
  const AttemptOutcome python = by(failed(1, 12), "crash", "runtime-error", "deterministic", "stop-and-notify");
  all.push_back(
      {EndClass::kUnknown, "an exception of the trainer's own at step 12, checkpoints saved", {python}, true});
  all.push_back({EndClass::kUnknown,
                 "SIGKILL from elsewhere",
                 {with(failed(1, 40), [](auto& one) { one.code = -1, one.signal = 9; })},
                 true});
  std::vector<AttemptOutcome> many;
  for (int i = 0; i <= 50; ++i) many.push_back(failed(1 + i * 20, 15 + i * 20));
  all.push_back({EndClass::kUnknown, "the 51st failure, each further than the one before", many, false});
  all.push_back({EndClass::kSameStep,
                 "the same exception at step 12 again",
                 {python, with(python, [](auto& one) { one.resumed_at = 10; })},
                 false});
  AttemptOutcome behind = python;
  behind.resumed_at = 10, behind.last_step = 11;
  all.push_back({EndClass::kSameStep,
                 "the same exception one step behind a resume, no further than before",
                 {python, behind},
                 false});
  all.push_back(
      {EndClass::kDiesAtOnce, "exit status 3 after 4 s, without a word", {never_trained(), never_trained()}, false});
  const AttemptOutcome module = by(never_trained(), "import-error", "missing-module", "deterministic", "config-fix");
  all.push_back({EndClass::kBeforeStep, "a module is missing", {module}, false});
  const AttemptOutcome space = by(failed(1, 40), "disk-full", "disk-full", "deterministic", "free-space-then-resume");
  all.push_back({EndClass::kNeedsChange, "the disk is full, and nothing was freed", {space}, false});
  AttemptOutcome further = by(failed(11, 17), "code-error", "runtime-error", "deterministic", "stop-and-notify");
  all.push_back({EndClass::kUnknown,
                 "the same exception at a later step, further than any attempt before, no save between",
                 {with(further, [](auto& one) { one.last_step = 14; }), further},
                 true});
  all.push_back({EndClass::kNeedsChange,
                 "a setting that does not fit, without progress",
                 {failed(1, 40), by(failed(31, 35), "config-error", "bad-value", "deterministic", "config-fix")},
                 false});
}

void add_breaks(std::vector<Example>& all) {
  all.push_back(
      {EndClass::kHung, "no step and no line any more since step 40", {tripped(failed(1, 40), "stall", 40)}, true});
  all.push_back({EndClass::kSameStep,
                 "the same hang again at step 40",
                 {tripped(failed(1, 40), "stall", 40), tripped(failed(41, 40), "stall", 40)},
                 false});
  AttemptOutcome engine = tripped(failed(1, 40), "engine-dead", 38);
  all.push_back({EndClass::kTransient, "an engine died, and the trainer went on with empty answers", {engine}, true});
  all.push_back({EndClass::kPoisoned,
                 "rewards at their floor, and nothing shows why",
                 {tripped(failed(1, 40), "zero-reward", 35)},
                 false});
  const AttemptOutcome nan = tripped(failed(1, 40), "non-finite", 36);
  all.push_back({EndClass::kPoisoned, "losses that are not finite since step 36", {nan}, true});
  all.push_back({EndClass::kPoisoned,
                 "the same again, no further than before",
                 {nan, with(tripped(failed(31, 40), "non-finite", 36), [](auto& one) { one.resumed_at = 30; })},
                 false});
  all.push_back({EndClass::kPoisoned,
                 "tainted checkpoints that cannot be quarantined",
                 {with(engine, [](auto& one) { one.suspect = 40, one.can_roll_back = false; })},
                 false});
  AttemptOutcome rule = tripped(failed(1, 40), std::string(kUserRule).c_str(), 36);
  rule.reaction = "rollback-before-onset";
  all.push_back({EndClass::kRule, "a rule with `breaker = true`, once", {rule}, true});
  all.push_back({EndClass::kRule, "the same again, no further than before", {rule, rule}, false});
  all.push_back({EndClass::kBadResume,
                 "step 1 again after a checkpoint at step 40",
                 {failed(1, 40), tripped(failed(1, 2), "restart-from-scratch", 1)},
                 false});
}

std::vector<Example> examples() {
  std::vector<Example> all;
  add_ends(all);
  add_failures(all);
  add_breaks(all);
  return all;
}

constexpr std::string_view kBegin =
    R"(<!-- Made by src/core/supervise/restart_policy_test.cc from the tables in the code and from what the code decides.
MIDWATCH_UPDATE_DOCS=1 build/tests/test_core makes it anew. -->

# What follows when an attempt ends

`midwatch run` decides this once an attempt is over, from what it wrote and how it ended; the journal keeps the decision with what it
rests on (`midwatch replay RUNFOLDER`). The third column is what the program decides for that example with the settings it has by
default.

)";

constexpr std::string_view kEnd = R"(
A restart waits `[run] first_wait` (10 s), and twice as long each time while there is no progress, up to `longest_wait` (15 min).
Progress is a newer complete checkpoint; where no attempt saved one, a later step. `[run] restarts` (5) counts attempts in a row without
progress, `restarts_total` (50) all of them; what the provider does is not counted. `[actions] restart = "ask"` asks before each
restart, `"watch"` never restarts. midwatch changes neither seeds nor the order of data: what it resumes is the trainer's own checkpoint.

A time limit that a person sets by `timeout 8h python train.py` is one of the run: what it ends (status 124, or 137 with
`--kill-after`) is not started again. Within a script midwatch knows it by status 124, where nothing failed by the log.

A trainer that handles a signal by the book saves and ends with status 0. What its log says behind its last step is believed: a signal
or a person's stop (signatures of the kind `interrupted`), early stopping or a time limit (benign signatures of the kind
`died-silently`; knowledge/signatures, which `--knowledge` adds to). Such an end is wanted, and nothing is started again; without such
words a status of 0 short of the plan counts as a failure. On a machine that is about to be taken away nothing is lost by that:
`midwatch onstart` goes on on the next one. After a signal from outside `midwatch run` itself ends with status 1, as the plan is open.

## What others do

| rule | midwatch | RobustRL (OSDI'26, §5.1.2) | NVRx (Restart Agent, 0.7) |
|---|---|---|---|
| the same failure at the same step | stops | restarts the whole task | stops once the failure is grounded as unrecoverable |
| a failure right behind a resume | stops at the second that comes no further; an outage (network, a server, a collective's peers, SIGKILL from elsewhere) counts in the budget | restarts the whole task | counts as no advance |
| budget | 5 in a row without progress, 50 in all | none stated | 3 without advance, 1 where root and entity are the same |
| unknown progress | counts by steps where nothing was saved | - | is never held against the run |
| a hang | asks after `hang_patience`, or acts | 60 s (rollout), 300 s (trainer) without activity, then restarts the role | learnt timeouts, restarts in the job |
| who ended it was the provider | restarts, no budget | - | - (JobSet: host maintenance is not counted) |
)";

std::string page() {
  std::string out(kBegin);
  out += "| an attempt that | for example | by default | what changes that |\n|---|---|---|---|\n";
  const std::vector<Example> all = examples();
  for (const EndClassRow& row : end_classes()) {
    for (const Example& one : all) {
      if (one.end != row.end) continue;
      const RestartDecision decision = after_end(one.attempts, {});
      out += cat("| ", row.meaning, " (`", row.word, "`) | ", one.what, " | ",
                 decision.restart ? "**restart**: " : "stop: ", decision.why, " | ",
                 row.change.empty() ? "-" : row.change, " |\n");
    }
  }
  return out.append(kEnd);
}

}  // namespace

TEST_CASE("every class of end has an example, and the policy decides each as it should") {
  std::set<EndClass> tried;
  for (const Example& one : examples()) {
    CAPTURE(one.what);
    const RestartDecision decision = after_end(one.attempts, {});
    CAPTURE(decision.why);
    CHECK(end_class_word(decision.end) == end_class_word(one.end));
    CHECK(decision.restart == one.restart);
    tried.insert(one.end);
    RestartLimits none;
    none.restarts = 0;
    CHECK_FALSE(after_end(one.attempts, none).restart);  // 0 means none
  }
  for (const EndClassRow& row : end_classes()) {
    CAPTURE(std::string(row.word));
    CHECK(tried.count(row.end) == 1);
    CHECK(end_class_of(row.word) == row.end);
  }
}

TEST_CASE("docs/restart-policy.md is what the program does") {
  const std::string path = cat(MW_SOURCE_DIR, "/docs/restart-policy.md"), made = page();
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << made;
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE((text.str() == made), path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_core");
}

}  // namespace mw
