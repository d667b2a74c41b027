// The words by which core distinguishes lines, in sentences that programs say. Each sentence has one of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/advance.h"
#include "core/detect/support/failure_chain.h"
#include "core/idle_line.h"

namespace mw {
namespace {

/// A run of one text log.
class Log {
 public:
  Log() { say(event::SourceOpened{0, "train.log", "text", 0}); }
  template <typename Body>
  void say(Body body) {
    Event event;
    event.where = {0, ++line_};
    event.body = std::move(body);
    fold(state_, event);
  }
  void steps(int64_t to) {
    for (int64_t step = 1; step <= to; ++step) {
      say(event::Measured{step, false, {{"reward.mean", "reward", 0.3 + 0.001 * static_cast<double>(step % 5)}}});
    }
  }
  std::vector<Incident> end(std::string last) {
    say(event::SourceEnded{9000, 900, false, std::move(last)});
    say(event::Closed{});
    return judge(state_, Knowledge());
  }

 private:
  State state_;
  uint64_t line_ = 0;
};

/// The severity of a silent death; kInfo where it is not reported at all.
Severity died(const std::vector<Incident>& incidents) {
  const auto found =
      std::find_if(incidents.begin(), incidents.end(), [](const Incident& one) { return one.kind == "died-silently"; });
  return found == incidents.end() ? Severity::kInfo : found->severity;
}

Severity died_after(std::string last) {
  Log log;
  log.say(event::Planned{100});
  log.steps(30);
  return died(log.end(std::move(last)));
}

Severity died_with_bar(std::string bar) {
  Log log;
  log.say(event::AttemptBegan{"banner"});
  log.say(event::Progressed{bar, 3, 10});
  return died(log.end(bar + ":  30%|###       | 3/10"));
}

std::optional<detect::FinalError> final_error_of(std::string last) {
  State state;
  state.sources.resize(1);
  state.sources[0].kind = "text";
  state.sources[0].last_text = std::move(last);
  AttemptState attempt;
  attempt.last.where.source = 0;
  return detect::final_error(state, attempt);
}

}  // namespace

TEST_CASE("a program that puts its result away as its log ends did not die") {
  for (const char* last :
       {"Saving model checkpoint", "Model saved.", "Saved model: out/last", "Weights saved to out/last",
        "Configuration saved in out/config.json", "Saving final weights", "Uploading the final model",
        "Total time: 3:12:44", "Training time 3.2 h", "100 steps completed", "Process finished", "All done!",
        "Upload complete", "wandb: View run at https://wandb.ai/x",
        "Dropping the following result as it does not have all the necessary fields"}) {
    CAPTURE(std::string(last));
    CHECK(died_after(last) == Severity::kInfo);
  }
  CHECK(died_after("step 30 reward 0.3") == Severity::kWarning);
}

TEST_CASE("a bar of an inference engine that stands still is no plan") {
  for (const char* bar : {"Processed prompts", "Running requests", "Decode CUDA graphs", "Capturing batches (bs=8)",
                          "Loading safetensors checkpoint shards"}) {
    CAPTURE(std::string(bar));
    CHECK(died_with_bar(bar) == Severity::kInfo);
  }
  CHECK(died_with_bar("Training") == Severity::kWarning);
}

TEST_CASE("lines of a server that serves nobody") {
  Knowledge knowledge;  // of engines, as knowledge/engines has them
  Engine vllm, sglang;
  vllm.idle = {"running: 0 reqs"};
  sglang.idle = {"#running-req: 0,", "get /get_model_info"};
  knowledge.engines = {vllm, sglang};
  for (const char* line :
       {"INFO: 127.0.0.1:5 - \"GET /health HTTP/1.1\" 200 OK", "\"GET /metrics HTTP/1.1\" 200", "\"GET /ping\" 200",
        "\"GET /readyz\" 200", "\"GET /v1/models HTTP/1.1\" 200 OK", "raylet heartbeat ok", "GET /get_model_info 200",
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs",
        "Decode batch. #running-req: 0, #token: 0"}) {
    CAPTURE(std::string(line));
    CHECK(is_idle_line(line, knowledge));
  }
  CHECK_FALSE(is_idle_line("Running: 10 reqs", knowledge));
  CHECK_FALSE(is_idle_line("#running-req: 10, #token: 900", knowledge));
  CHECK_FALSE(is_idle_line("\"POST /v1/completions HTTP/1.1\" 200 OK", knowledge));
}

TEST_CASE("levels by which a last line calls itself fatal") {
  for (const char* last :
       {"2026-01-15 CRITICAL the server is gone", "2026-01-15 08:00:00 CRITICAL: gone", "[2026-01-15][CRITICAL] gone",
        "I0115 08:00 FATAL gone", "[08:00:00][FATAL] gone", "CRITICAL:root:gone", "FATAL: the database is gone",
        "fatal: not a git repository", "trainer: FATAL: gone"}) {
    CAPTURE(std::string(last));
    CHECK(final_error_of(last).has_value());
  }
  CHECK_FALSE(final_error_of("INFO a fatal: word in a sentence").has_value());
  CHECK_FALSE(final_error_of("critical batch size 32").has_value());
}

}  // namespace mw
