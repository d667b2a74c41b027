// What may cause what, written down from the failure catalogue ("Causal chains worth modelling") and from what the
// programs do, independently of the table in incident_kind.cc: each link is played to the judge as two failures.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/advance.h"
#include "core/incident_kind.h"

namespace mw {
namespace {

struct Link {
  std::string_view cause, effect, why;
};

constexpr Link kLinks[] = {
    // /dev/shm too small: SIGBUS while tensors are shared during a save
    {"shm-exhausted", "checkpoint-failed", "the writer processes of a save die of SIGBUS"},
    {"shm-exhausted", "checkpoint-incomplete", "only common.pt is written before they die"},
    {"shm-exhausted", "worker-lost", "a data loader or a rank dies of SIGBUS"},
    {"shm-exhausted", "disk-pressure", "each SIGBUS leaves a core dump of gigabytes"},
    {"shm-exhausted", "disk-full", "the core dumps fill the working folder's disk"},
    // a disk that fills up, and the saves on it
    {"disk-pressure", "disk-full", "nothing prunes what fills it"},
    {"disk-pressure", "checkpoint-failed", "the next save needs more than is left"},
    {"disk-pressure", "checkpoint-incomplete", "the save is cut where the space ends"},
    {"disk-full", "checkpoint-failed", "the writer meets ENOSPC"},
    {"disk-full", "checkpoint-incomplete", "truncated safetensors, no pointer file"},
    {"disk-full", "crash", "the writer's exception ends the trainer"},
    {"disk-full", "restart-from-scratch", "the pointer was not written, so the retry finds no checkpoint"},
    {"checkpoint-failed", "checkpoint-incomplete", "what was written of it stays behind"},
    {"checkpoint-failed", "restart-from-scratch", "there is nothing to resume from"},
    {"checkpoint-incomplete", "restart-from-scratch", "the loader refuses the newest checkpoint"},
    {"crash", "restart-from-scratch", "a launcher's retry repeats the first command, which resumes nothing"},
    // retries
    {"crash", "crash", "an attempt leaves memory, ports and sessions behind, of which the next one fails"},
    {"config-error", "crash", "each retry reads the same settings"},
    {"code-error", "crash", "each retry runs the same code"},
    {"network", "crash", "a client without a retry raises"},
    {"network", "environment-fault", "the judge or the sandbox cannot be reached"},
    // limits of the machine
    {"resource-limit", "engine-dead", "EMFILE: a server dies when it cannot accept a socket"},
    {"resource-limit", "worker-lost", "a worker dies when it cannot start a thread or open a file"},
    {"gpu-out-of-memory", "worker-lost", "the rank's process ends"},
    {"gpu-out-of-memory", "engine-dead", "the engine's core cannot wake up or prefill"},
    {"gpu-out-of-memory", "reward-collapse", "a half awake engine gives garbage"},
    {"host-out-of-memory", "worker-lost", "the kernel or Ray's monitor kills a worker, often an innocent one"},
    {"gpu-fault", "worker-lost", "the rank on the faulty GPU dies"},
    {"gpu-fault", "collective-timeout", "the other ranks wait for it until the watchdog fires"},
    {"worker-lost", "collective-timeout", "the same for a rank that is gone for another reason"},
    {"stall", "interrupted", "whoever sees a hang ends the run"},
    {"stall", "preempted", "or its time is up meanwhile"},
    {"worker-lost", "stall", "a collective without a timeout waits for ever"},
    {"collective-timeout", "disk-full", "the watchdog aborts every rank, and each leaves a core dump"},
    // an inference engine that a trainer goes on without
    {"engine-dead", "zero-reward", "failed rollouts are scored 0"},
    {"engine-dead", "reward-collapse", "some rollouts fail and are scored 0"},
    {"engine-dead", "stall", "the trainer waits for rollouts"},
    {"engine-dead", "died-silently", "the driver ends with its engine, without a word"},
    {"engine-dead", "policy-mismatch", "a new engine serves old weights"},
    {"engine-dead", "entropy-collapse", "empty answers leave nothing to be uncertain about"},
    {"engine-dead", "length-collapse", "answers are empty or cut"},
    {"engine-dead", "zero-advantage", "groups in which all answers failed are equal"},
    {"worker-lost", "zero-reward", "what a lost worker of rollouts or rewards owes counts as 0"},
    {"worker-lost", "reward-collapse", "the same for a part of them"},
    // a judge or sandbox that fails
    {"resource-limit", "environment-fault", "tools get no more files, ports or processes"},
    {"credentials", "environment-fault", "a judge that refuses the key"},
    {"credentials", "zero-reward", "refused scores count as 0"},
    {"network", "stall", "the trainer waits for an answer that does not come"},
    {"network", "zero-reward", "answers or scores that did not come count as 0"},
    {"network", "reward-collapse", "the same for a part of them"},
    {"network", "zero-advantage", "groups in which all scores failed are equal"},
    {"code-error", "zero-reward", "a reward function that raises is scored 0"},
    {"environment-fault", "zero-reward", "failed scores count as 0"},
    {"environment-fault", "reward-collapse", "a part of the scores counts as 0"},
    {"environment-fault", "zero-advantage", "groups in which all scores failed are equal"},
    // learning signals
    {"reward-collapse", "zero-reward", "the fall ends at the floor"},
    {"reward-collapse", "zero-advantage", "all answers of a group are equally bad"},
    {"zero-reward", "zero-advantage", "equal rewards have no advantage"},
    {"zero-reward", "no-learning", "nothing distinguishes good from bad"},
    {"zero-reward", "reward-collapse", "what is trained on zeros has lost its level"},
    {"zero-reward", "entropy-collapse", "without rewards only regularisers move the policy"},
    {"zero-reward", "length-collapse", "the same, seen in the lengths"},
    {"zero-advantage", "no-learning", "the gradient is zero"},
    {"tool-errors", "zero-reward", "a call that failed brings no result to score"},
    {"tool-errors", "reward-collapse", "the same for a part of the answers"},
    {"format-failures", "zero-reward", "an answer that cannot be parsed is scored 0"},
    {"format-failures", "reward-collapse", "the same for a part of the answers"},
    {"length-collapse", "reward-collapse", "answers are too short to solve anything"},
    {"length-collapse", "zero-reward", "or empty"},
    {"degenerate-output", "reward-collapse", "repeated or random text solves nothing"},
    {"degenerate-output", "zero-reward", "the same for every answer"},
    {"non-finite", "reward-collapse", "weights that met NaN give garbage"},
    {"non-finite", "zero-reward", "or nothing at all"},
    {"gradient-spike", "non-finite", "the update overflows"},
    {"gradient-spike", "kl-runaway", "the policy jumps away from its reference"},
    {"kl-runaway", "reward-collapse", "too far from the reference the answers degrade"},
    {"kl-runaway", "entropy-explosion", "the same, seen in the tokens"},
    {"policy-mismatch", "reward-collapse", "samples of another policy give a biased gradient"},
    {"policy-mismatch", "entropy-explosion", "the bias favours unlikely tokens"},
    {"staleness", "policy-mismatch", "old samples are those of another policy"},
    {"entropy-explosion", "reward-collapse", "random tokens answer nothing"},
    {"entropy-explosion", "degenerate-output", "the text is noise"},
    {"entropy-explosion", "truncation", "noise has no end-of-sequence token"},
    {"entropy-collapse", "degenerate-output", "one answer for everything"},
    {"entropy-collapse", "zero-advantage", "all samples of a group are the same"},
    {"length-explosion", "truncation", "answers reach the token limit"},
    {"truncation", "reward-collapse", "a cut answer has no result to score"},
    {"truncation", "throughput-drop", "every answer costs as much as the longest"},
};

/// A run whose attempt `first` ends by a failure of kind `cause` and whose attempt `second` ends by one of `effect`:
/// after steps of its own, except where both kinds end runs. What a program does wrong does not outlast its attempt
/// where the next one trains (judge_attempts_test.cc).
class Run {
 public:
  Run(std::string_view cause, std::string_view effect, int second) {
    add("the-cause", cause);
    add("the-effect", effect);
    say(event::SourceOpened{0, "train.log", "text", 0});
    fail("the-cause");
    const bool at_once = second > 0 && ends_runs(cause) && ends_runs(effect);
    for (int attempt = 1; attempt <= second; ++attempt) {
      say(event::AttemptBegan{"launcher"});
      if (attempt < second || !at_once) train();
    }
    if (!at_once) train();
    say(event::Matched{"the-effect", "the-effect text", 1, false});
    say(event::SourceEnded{1000, static_cast<int64_t>(line_), false, "last"});
    say(event::Closed{});
  }

  bool followed() const {
    const std::vector<Incident> incidents = judge(state_, knowledge_);
    const Incident* cause = find(incidents, "the-cause");
    const Incident* effect = find(incidents, "the-effect");
    REQUIRE(cause != nullptr);
    REQUIRE(effect != nullptr);
    return std::find(cause->followed_by.begin(), cause->followed_by.end(), effect->id) != cause->followed_by.end();
  }

 private:
  void add(const char* id, std::string_view kind) {
    Signature signature;
    signature.id = id;
    signature.kind = kind;
    signature.role = Role::kRoot;
    signature.severity = Severity::kCritical;
    signature.fatal = true;
    signature.symptom = id;
    knowledge_.by_id[id] = knowledge_.signatures.size();
    knowledge_.signatures.push_back(std::move(signature));
  }
  template <typename Body>
  void say(Body body) {
    Event event;
    event.at = Time::from_seconds(1'700'000'000.0 + 60.0 * static_cast<double>(++line_));
    event.where = {0, line_};
    event.body = std::move(body);
    fold(state_, event);
  }
  void train() {
    for (int i = 0; i < 3; ++i) {
      say(event::Measured{++step_, false, {{"reward.mean", "reward", 0.5 + 0.01 * static_cast<double>(step_ % 5)}}});
    }
  }
  void fail(const char* id) {
    train();
    say(event::Matched{id, cat(id, " text"), 1, false});
  }
  static const Incident* find(const std::vector<Incident>& incidents, std::string_view id) {
    const auto found = std::find_if(incidents.begin(), incidents.end(), [id](const Incident& one) {
      return !one.causes.empty() && one.causes.front().id == id;
    });
    return found == incidents.end() ? nullptr : &*found;
  }

  Knowledge knowledge_;
  State state_;
  uint64_t line_ = 0;
  int64_t step_ = 0;
};

bool is_link(std::string_view cause, std::string_view effect) {
  return std::any_of(std::begin(kLinks), std::end(kLinks),
                     [&](const Link& link) { return link.cause == cause && link.effect == effect; });
}

}  // namespace

TEST_CASE("each link of a causal chain joins its two incidents, and never the other way round") {
  for (const Link& link : kLinks) {
    const std::string name = cat(link.cause, " -> ", link.effect, ": ", link.why);
    CAPTURE(name);
    CHECK(Run(link.cause, link.effect, 1).followed());
    if (!is_link(link.effect, link.cause)) CHECK_FALSE(Run(link.effect, link.cause, 1).followed());
  }
}

TEST_CASE("no cause reaches over more than one start") {
  CHECK(Run("engine-dead", "zero-reward", 1).followed());
  CHECK_FALSE(Run("engine-dead", "zero-reward", 2).followed());
}

TEST_CASE("what no chain joins is not joined") {
  CHECK_FALSE(Run("credentials", "engine-dead", 1).followed());
  CHECK_FALSE(Run("zero-reward", "zero-reward", 1).followed());
  CHECK_FALSE(Run("interrupted", "crash", 1).followed());
}

}  // namespace mw
