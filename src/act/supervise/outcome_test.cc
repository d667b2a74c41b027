#include "act/supervise/outcome.h"

#include <doctest/doctest.h>

#include <string_view>

namespace mw {
namespace {

/// An attempt that exited with status 1, of which these incidents are critical, in this order.
struct Ended {
  Knowledge knowledge;
  State state;
  Kept kept;
  std::optional<Trip> trip;
  std::optional<LastWhole> way;

  Ended() {
    state.attempts.resize(1);
    kept.ending = Ending();
    kept.ending->code = 1;
  }
  void incident(std::string_view kind) {
    Incident one;
    one.kind = kind;
    one.severity = Severity::kCritical;
    state.incidents.push_back(one);
  }
  std::string kind() const { return outcome_of({kept, trip, way}, state, knowledge).kind; }
};

TEST_CASE("a time limit of the command, and a training that goes on without it") {
  Ended run;
  const std::vector<std::string> limited = {"timeout", "2s", "python"}, client = {"docker", "run", "image"};
  run.kept.started = Time::from_seconds(100);
  run.kept.ending->at = Time::from_seconds(103);
  run.kept.ending->known = true;
  const auto of = [&run](int code, const std::vector<std::string>& command) {
    run.kept.ending->code = code;
    return outcome_of({run.kept, run.trip, run.way, false, false, kNoStep, "", command}, run.state, run.knowledge);
  };
  CHECK(of(124, limited).time_limit == "timeout 2s");
  CHECK(of(1, limited).time_limit.empty());
  CHECK_FALSE(of(125, client).trains_on.empty());
  CHECK(of(1, client).trains_on.empty());
}

TEST_CASE("an exception ends an attempt, not what it learnt worse before") {
  Ended run;
  run.incident("reward-collapse");
  CHECK(run.kind() == "reward-collapse");  // nothing else is known
  run.incident("crash");
  CHECK(run.kind() == "crash");
  Ended poisoned;
  poisoned.incident("non-finite");
  poisoned.incident("crash");
  CHECK(poisoned.kind() == "non-finite");
  Ended engine;
  engine.incident("engine-dead");
  engine.incident("crash");
  CHECK(engine.kind() == "engine-dead");
}

TEST_CASE("a beginning from nothing, and a broken rule without the breaker, end nothing") {
  Ended run;
  run.incident("restart-from-scratch");
  run.incident(kUserRule);
  CHECK(run.kind().empty());
  run.incident("network");
  CHECK(run.kind() == "network");
}

TEST_CASE("how it ended, in a sentence") {
  Ending end;
  end.code = 3;
  CHECK(ended_how(end) == "ended with exit status 3");
  end.signal = 9;
  CHECK(ended_how(end) == "ended by signal 9");
  end.core = true;
  CHECK(ended_how(end) == "ended by signal 9, core dumped");
  end.known = false;
  CHECK(ended_how(end) == "ended, and how is not known");
}

}  // namespace
}  // namespace mw
