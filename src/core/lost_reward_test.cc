// Why a reward is zero: nothing is generated any more, or nothing rewards what is.
#include <doctest/doctest.h>

#include "core/planted_run_for_test.h"

namespace mw {

TEST_CASE("a reward of zero while a server cannot be reached is the server's") {
  PlantedRun run;
  run.steps(1, 30);
  for (int64_t step = 31; step <= 45; ++step) {
    run.matched("api-connection-error-all-rollouts");
    run.say(event::Measured{step, false, {{"reward.mean", "reward", 0}}});
  }
  CHECK(has(run.close(), "zero-reward", "sglang-server-down-zero-reward"));
}

TEST_CASE("a reward of zero while no server rewards is that server's, whose address the calls name") {
  struct Row {
    const char* call;
    const char* cause;
  };
  // Answers as long as before come of an engine that lives: then the calls are of something else, named or not.
  for (const Row& row :
       {Row{"HTTPConnectionPool(host='10.0.0.9', port=5000): Max retries exceeded with url: /get_reward "
            "(Caused by NewConnectionError('Connection refused'))",
            "remote-reward-model-down"},
        Row{"remote_rm: ClientConnectorError: Cannot connect to host 10.0.0.9:5000 failed", "remote-reward-model-down"},
        Row{"the judge failed: Cannot connect to host 10.0.0.9:5000", "judge-api-error"},
        Row{"Cannot connect to host 10.0.0.4:30000, url=http://10.0.0.4:30000/generate",
            "sglang-server-down-zero-reward"}}) {
    CAPTURE(row.call);
    PlantedRun run;
    run.add("connection-refused", "network", Role::kSymptom, Severity::kWarning, false, "retry");
    run.steps(1, 30);
    for (int64_t step = 31; step <= 45; ++step) {
      run.say(event::Matched{"connection-refused", row.call, 1, false});
      run.say(event::Measured{step, false, {{"reward.mean", "reward", 0}}});
    }
    CHECK(has(run.close(), "zero-reward", row.cause));
  }
}

TEST_CASE("answers as long as before show that an engine gives them") {
  for (const bool answers : {true, false}) {
    CAPTURE(answers);
    PlantedRun run;
    run.add("connection-refused", "network", Role::kSymptom, Severity::kWarning, false, "retry");
    for (int64_t step = 1; step <= 45; ++step) {
      const bool down = step > 30;
      if (down) run.say(event::Matched{"connection-refused", "Cannot connect to host 10.0.0.9:5000", 1, false});
      const double length = down && !answers ? 0 : 500 + static_cast<double>(step % 7);
      const double reward = down ? 0 : 0.4 + 0.01 * static_cast<double>(step % 5);
      run.say(event::Measured{step, false, {{"reward.mean", "reward", reward}, {"response.length", "length", length}}});
    }
    CHECK(has(run.close(), "zero-reward", "sglang-server-down-zero-reward") != answers);
  }
}

}  // namespace mw
