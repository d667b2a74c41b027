// What a whole log comes to where something fails time and again, or to its last line.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::vector<const Incident*> of_kind(const State& state, std::string_view kind) {
  std::vector<const Incident*> found;
  for (const Incident& incident : state.incidents) {
    if (incident.kind == kind) found.push_back(&incident);
  }
  return found;
}

TEST_CASE("a loss that is NaN to the last record is one incident, which began where the figures did") {
  std::string log;
  for (int i = 1; i <= 60; ++i) {
    const std::string_view loss = i < 31 ? "0.0012" : "nan";
    log += cat("{'loss': ", loss, ", 'grad_norm': ", i < 31 ? "0.2" : "nan",
               ", 'learning_rate': 1e-06, 'completions/mean_length': ", 200 + i % 7,
               ".5, 'reward': 0.3, 'reward_std': 0.3, 'epoch': ", i, "}\n");
  }
  const State state = state_of(log);
  const auto found = of_kind(state, "non-finite");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->onset.step == 31);
  CHECK(found[0]->onset.where.line == 31);
  CHECK(found[0]->severity == Severity::kCritical);
  CHECK(contains(found[0]->summary, "from step 31 on, 30 records"));
}

TEST_CASE("a GPU that is full for the inference engine is not full for the trainer") {
  std::string log;
  for (int i = 1; i <= 20; ++i) log += cat("step:", i, " - actor/pg_loss:0.01 - critic/rewards/mean:0.", 300 + i, "\n");
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has a total capacity of 79.11 GiB "
      "of which 1.02 GiB is free.\n";
  const std::string trace = "Traceback (most recent call last):\n  File \"/opt/x/scheduler.py\", line 9, in run\n";
  const auto cause = [](const State& state, std::string_view kind) {
    const auto found = of_kind(state, kind);
    return found.empty() || found[0]->causes.empty() ? std::string() : found[0]->causes[0].id;
  };
  const State engine = state_of(cat(log, "[2026-03-01 08:33:21 TP0] Scheduler hit an exception: ", trace, error,
                                    "[2026-03-01 08:33:22] Received sigquit from a child process. It usually means "
                                    "the child failed.\n"));
  CHECK(cause(engine, "engine-dead") == "cuda-oom-engine");
  CHECK(cause(state_of(cat(log, trace, error)), "gpu-out-of-memory") == "cuda-oom-trainer");
}

TEST_CASE("a request that the server refused ends nothing, though no step has come yet") {
  std::string log = "(TaskRunner pid=24) INFO verl.trainer.main_ppo: GRPO, total_training_steps 60\n";
  const std::string from = "(AsyncvLLMServer pid=26) ERROR 07-26 01:45:22 [serving_chat.py:200] ";
  const std::string refused = cat(
      from, "Traceback (most recent call last):\n", from,
      "  File \"/v/lib/python3.10/site-packages/vllm/entrypoints/openai/serving_engine.py\", line 253, in _validate\n",
      from, "    raise ValueError(\n", from,
      "ValueError: This model's maximum context length is 30000 tokens. However, you requested 30806 tokens in the "
      "messages, Please reduce the length of the messages.\n");
  std::string turns;
  for (int i = 0; i < 300; ++i) turns += cat("(TaskRunner pid=24) [DEBUG] BashTool call for session ", i, " done\n");
  const State goes_on = state_of(cat(log, turns, refused, turns));
  for (const Incident* one : of_kind(goes_on, "data-error")) CHECK(one->severity < Severity::kCritical);
  const State ends = state_of(cat(log, turns, refused));
  const auto last = of_kind(ends, "data-error");
  REQUIRE(last.size() == 1);
  CHECK(last[0]->severity == Severity::kCritical);
}

/// Six steps, and then nothing but requests that fail, one every 80 s.
std::string failing_requests(int failures) {
  const auto clock = [](int seconds) {
    const auto two = [](int n) { return cat(n < 10 ? "0" : "", n); };
    return cat("2026-11-29 ", two(8 + seconds / 3600), ":", two(seconds / 60 % 60), ":", two(seconds % 60));
  };
  std::string log;
  for (int i = 0; i <= 5; ++i) {
    log += cat(clock(200 + 200 * i), " INFO trainer: step ", i, " loss 0.8", i, " reward 0.", 31 + i, "\n");
  }
  log += cat(clock(1200), " INFO trainer: Saving checkpoint at step 5\n");
  for (int i = 1; i <= failures; ++i) {
    log += cat(clock(1200 + 80 * i), " WARNING Rollout failed: APIConnectionError('Connection error.')\n");
  }
  return log;
}

TEST_CASE("a run that lives on for hours with nothing but failing requests has not survived them, and waits for them") {
  const State state = state_of(failing_requests(128));
  const auto engine = of_kind(state, "engine-dead"), stall = of_kind(state, "stall");
  REQUIRE(engine.size() == 1);
  REQUIRE(stall.size() == 1);
  CHECK(engine[0]->open);
  CHECK(engine[0]->severity == Severity::kCritical);
  CHECK(contains(engine[0]->summary, "seen 128 times, no step was done after it"));
  REQUIRE_FALSE(stall[0]->causes.empty());
  CHECK(stall[0]->causes[0].id == "api-connection-error-all-rollouts");
  CHECK(state.verdict == "stalled");
}

TEST_CASE("a log that ends in requests that fail was copied while the run went on: it did not crash") {
  const State state = state_of(failing_requests(9));
  const auto engine = of_kind(state, "engine-dead");
  REQUIRE(engine.size() == 1);
  CHECK(engine[0]->open);
  CHECK(engine[0]->severity == Severity::kWarning);
  CHECK(state.verdict != "crashed");
  CHECK(of_kind(state, "checkpoint-incomplete").empty());
}

TEST_CASE("a connection that is refused for the first time right before the reward is zero for good is its cause") {
  const auto read = [](int refused_at, bool before) {
    const std::string refused =
        "HTTP request to http://10.0.0.4:8123/generate failed: Cannot connect to host 10.0.0.4:8123 ssl:default "
        "[Connect call failed ('10.0.0.4', 8123)]. Retry 5/5\n";
    std::string log;
    for (int i = 1; i <= 60; ++i) {
      log += cat("step ", i, " loss 0.", 900 - i, " reward 0.", i <= 30 ? 300 + i % 7 : 0, "\n");
      if (i == refused_at || (before && i == 12)) log += refused;
    }
    return state_of(log);
  };
  const State state = read(30, false);
  const auto network = of_kind(state, "network"), zero = of_kind(state, "zero-reward");
  REQUIRE(network.size() == 1);
  REQUIRE(zero.size() == 1);
  CHECK(network[0]->severity == Severity::kWarning);
  CHECK(network[0]->followed_by == std::vector<uint32_t>{zero[0]->id});
  CHECK(std::any_of(zero[0]->causes.begin(), zero[0]->causes.end(), [](const RankedCause& cause) {
    return cause.id == "connection-refused" && contains(cause.reasons_for.front(), "came before it");
  }));
  // One that came and went without harm before, or steps before, shows nothing.
  for (const State& other : {read(30, true), read(26, false)}) {
    for (const Incident* incident : of_kind(other, "network")) CHECK(incident->severity == Severity::kInfo);
  }
}

TEST_CASE("what Python or a dashboard only shows is not the end; a full disk that it shows is one") {
  std::string log;
  for (int i = 1; i <= 20; ++i) log += cat("step:", i, " - actor/pg_loss:0.01 - critic/rewards/mean:0.", 300 + i, "\n");
  const std::string shown =
      "--- Logging error ---\nTraceback (most recent call last):\n  File \"/usr/lib/python3.12/logging/__init__.py\", "
      "line 1160, in emit\n    msg = self.format(record)\n";
  const std::string error = "TypeError: not all arguments converted during string formatting\n";
  const std::string stack = "Call stack:\n  File \"/opt/x/train.py\", line 9, in <module>\n    main()\n";
  const auto any = [](const State& state, std::string_view kind) { return !of_kind(state, kind).empty(); };
  CHECK_FALSE(any(state_of(cat(log, shown, error, stack)), "code-error"));
  CHECK(any(state_of(cat(log, shown, "OSError: [Errno 28] No space left on device\n", stack)), "disk-full"));

  const std::string dashboard =
      "The last 20 lines of /tmp/ray/session_1/logs/dashboard.log (it contains the error message from the dashboard): "
      "\n    raise EOFError\nEOFError\n\nTraceback (most recent call last):\n  File \"/opt/x/handle.py\", line 146, in "
      "wait\n    raise RuntimeError(\nRuntimeError: Module MetricsHead failed to start.\n";
  const std::string trace =
      "Traceback (most recent call last):\n  File \"/opt/x/train.py\", line 9, in <module>\n    main()\nKeyError: "
      "'x'\n";
  const State state = state_of(cat("ray started\n", dashboard, "Started a local Ray instance.\n", trace));
  REQUIRE_FALSE(state.incidents.empty());
  CHECK(contains(state.incidents[0].summary, "KeyError"));
}

TEST_CASE("a supervised loss that swings while it runs away is a warning, a noisy one is none") {
  const auto loss = [](bool runs_away) {
    std::string log;
    for (int i = 1; i <= 36; ++i) {
      const int wave = i % 5;
      const int value = i <= 24 || !runs_away ? 1280 + wave : 1300 + (i - 24) * 60 + (wave < 2 ? -150 : 150);
      log += cat("{'loss': ", value / 100, ".", value % 100 < 10 ? "0" : "", value % 100,
                 ", 'learning_rate': 1e-05, 'epoch': 0.", i < 10 ? "0" : "", i, "}\n");
    }
    return of_kind(state_of(log), "loss-spike").size();
  };
  CHECK(loss(true) == 1);
  CHECK(loss(false) == 0);
}

TEST_CASE("evaluations that are equal to the last digit evaluate something that does not change") {
  const auto evaluated = [](bool frozen, std::string_view rouge) {
    std::string log;
    for (int i = 1; i <= 8; ++i) {
      const int last = frozen ? 1 : i;
      log += cat("{'loss': 2.", 900 - i, ", 'learning_rate': 1e-05, 'epoch': 0.", i, "}\n", "{'eval_loss': 8.24218751",
                 last, ", 'eval_rouge1': ", rouge, frozen ? 1 : i, ", 'epoch': 0.", i, "}\n");
    }
    return state_of(log);
  };
  const State frozen = evaluated(true, "0.1769269387"), moving = evaluated(false, "0.1769269387");
  const State counted = evaluated(true, "0.23333333333333333");  // 7 of 30, whatever the model
  const auto found = of_kind(frozen, "no-learning");
  REQUIRE(found.size() == 1);
  CHECK(contains(found[0]->summary, "what they evaluate does not change"));
  CHECK(of_kind(moving, "no-learning").empty());
  CHECK(of_kind(counted, "no-learning").empty());
}

TEST_CASE("records of rollouts and of updates are of one run of steps") {
  std::string log;
  int update = 0;
  for (int rollout = 1; rollout <= 30; ++rollout) {
    log += cat("{\"type\": \"rollout\", \"grpo_step\": ", rollout, ", \"reward\": 0.5, \"rollout_seconds\": 9.5}\n");
    for (int i = 0; i < 8; ++i) {
      log += cat("{\"type\": \"train\", \"grpo_step\": ", rollout, ", \"optimizer_step\": ", ++update,
                 ", \"loss\": 0.25, \"train_reward\": 0.5}\n");
    }
  }
  const State state = state_of(log, "metrics.jsonl");
  const Series* rewards = state.find("reward.mean");
  REQUIRE(rewards != nullptr);
  CHECK(rewards->points().back().step == 240);
  const Series* seconds = state.find_raw("rollout_seconds");
  REQUIRE(seconds != nullptr);
  CHECK(seconds->points().back().step == 233);
}

TEST_CASE("a log that ends while one rank waits for the other says that it has not come") {
  const auto waiting = [](int here) {
    std::string log;
    for (int i = 1; i <= 5; ++i) {
      log +=
          cat("[2026-03-01 13:17:", 10 * i, ",156][torch.distributed.distributed_c10d][INFO] - Waiting in store based ",
              "barrier to initialize process group for rank: 0, key: store_based_barrier_key:1 (world_size=2, "
              "worker_count=",
              here, ", timeout=0:30:00)\n");
    }
    const State state = state_of(log);
    const auto found = of_kind(state, "stall");
    return !found.empty() && found[0]->severity == Severity::kWarning &&
           contains(found[0]->summary, "1 of 2 have come");
  };
  CHECK(waiting(1));
  CHECK_FALSE(waiting(2));
}

TEST_CASE("another trainer's record that is quoted in a log says nothing of the run") {
  std::string log;
  for (int i = 1; i <= 20; ++i) {
    log += cat("step:", i, " - actor/pg_loss:0.01 - critic/rewards/mean:0.", 300 + i, " - perf/time_per_step:10.0\n");
    if (i == 10) log += "(RolloutManager pid=77)     {'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-07}\n";
  }
  const State state = state_of(log);
  for (const Incident* incident : of_kind(state, "non-finite"))
    CHECK(incident->severity == Severity::kInfo);  // its text
  CHECK(state.attempts.size() == 1);
  CHECK(state.find("loss.total") == nullptr);
}

TEST_CASE("what ends a file ended the run, though its writer's clock is hours behind that of the trainer") {
  for (const std::string_view hour : {"09", "01"}) {
    std::string log;
    for (int i = 1; i <= 43; ++i) {
      log += cat("2026-05-03 09:", i + 11, ":00,000 - grpo - INFO - Iteration ", i, " of 100: reward=0.", 300 + i,
                 ", loss=0.01", i, ", kl=0.00", i, "\n");
    }
    log += cat("ERROR 05-03 ", hour,
               ":55:40 [core.py:340] EngineCore hit an exception: Traceback (most recent call last):\n");
    log += cat("ERROR 05-03 ", hour, ":55:40 [core.py:340] RuntimeError: CUDA error: an illegal memory access was ",
               "encountered\n");
    log += cat("ERROR 05-03 ", hour, ":55:41 [core_client.py:616] Engine core proc EngineCore_DP0 died unexpectedly, ",
               "shutting down client.\n");
    const State state = state_of(log);
    CAPTURE(hour);
    const bool ended = std::any_of(state.incidents.begin(), state.incidents.end(), [](const Incident& one) {
      return one.severity == Severity::kCritical && (one.kind == "gpu-fault" || one.kind == "engine-dead");
    });
    CHECK(ended);
    CHECK(of_kind(state, "died-silently").empty());
  }
}

TEST_CASE("a tool call that an engine cannot read ends nothing, though the log is cut soon after") {
  std::string log = "(TaskRunner pid=7) step:0 - val-core/reward/mean@1:0.25\n";
  for (int i = 0; i < 400; ++i) log += cat("(TaskRunner pid=7) [DEBUG] call ", i, " of the shell returned 200\n");
  const std::string_view said = "(AsyncServer pid=9) ERROR 07-26 01:55:18 [hermes_tool_parser.py:110] ";
  const std::string_view parser =
      "/opt/lib/python3.10/site-packages/vllm/entrypoints/openai/tool_parsers/hermes_tool_parser.py";
  log += cat(said, "Error in extracting tool call from response.\n", said, "Traceback (most recent call last):\n", said,
             "  File \"", parser, "\", line 88, in extract_tool_calls\n", said, "    raw_function_calls = [\n", said,
             "  File \"", parser, "\", line 97, in <listcomp>\n", said, "    function_call[\"arguments\"],\n", said,
             "KeyError: 'arguments'\n");
  for (int i = 0; i < 40; ++i) log += cat("(TaskRunner pid=7) [DEBUG] call ", i, " of the shell returned 200\n");
  CHECK(of_kind(state_of(log), "code-error").empty());
}

TEST_CASE("an exception about a loss that is NaN ends the run, and the NaN is what it came of") {
  const auto log = [](int nan_from, std::string_view error) {
    std::string text;
    for (int i = 1; i <= 120; ++i)
      text += cat("2026-11-20 08:", i / 60 + 10, ":", i % 60 + 100 - 100 < 10 ? "0" : "", i % 60, ",123 INFO step ", i,
                  "/300 reward 0.", 300 + i % 9, " loss ", i < nan_from ? cat("0.0", 100 + i) : "nan", "\n");
    return cat(text, "Traceback (most recent call last):\n  File \"/w/train.py\", line 40, in <module>\n    main()\n",
               "  File \"/w/train.py\", line 31, in main\n    update(batch)\n", error, "\n");
  };
  for (const int from : {60, 119, 120}) {
    for (const std::string_view error :
         {"RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
          "ValueError: Loss is NaN, stopping training", "FloatingPointError: loss became nan",
          "AssertionError: loss is nan", "LossExploded: the loss is nan at this step"}) {
      CAPTURE(from);
      CAPTURE(error);
      const State state = state_of(log(from, error));
      CHECK(state.verdict == "crashed");
      const auto found = of_kind(state, "non-finite");
      REQUIRE(found.size() == 1);
      CHECK(found[0]->severity == Severity::kCritical);
      CHECK(contains(found[0]->summary, error.substr(0, error.find(':'))));
    }
  }
}

TEST_CASE("an exception that was caught and logged time and again ends the run where nothing catches it") {
  const std::string caught =
      "WARNING: call failed, sample skipped\nTraceback (most recent call last):\n  File \"/w/rollout.py\", line 140, "
      "in "
      "score_one\n    return fn(x)\n  File \"/w/reward.py\", line 31, in fn\n    return client.score(x)\n";
  const std::string uncaught =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 412, in <module>\n    main()\n  File "
      "\"/w/train.py\", line 377, in main\n    score_one(x)\n  File \"/w/rollout.py\", line 140, in score_one\n"
      "    return fn(x)\n  File \"/w/reward.py\", line 31, in fn\n    return client.score(x)\n";
  const auto log = [&](const std::string& error, const std::string& last) {
    std::string text;
    for (int i = 1; i <= 120; ++i) {
      text += cat("step ", i, "/300 reward 0.", 300 + i % 9, " loss 0.0", 100 + i, "\n");
      if (i % 10 == 0) text += cat(caught, error, i, "\n");
    }
    return cat(text, last, error, "7\n");
  };
  for (const std::string error : {"EnvResetFailed: env ", "IndexError: no env ", "ValueError: bad env "}) {
    CAPTURE(error);
    CHECK(state_of(log(error, uncaught)).verdict == "crashed");
    CHECK(state_of(cat(log(error, caught), "step 121/300 reward 0.304 loss 0.0221\n")).verdict != "crashed");
  }
}

TEST_CASE("one that begins at the program's outermost level as none of those that were caught ends the run") {
  const auto trace = [](std::string_view where) {
    return cat("Traceback (most recent call last):\n  File \"/w/train.py\", line 412, in ", where,
               "\n    main()\n  File \"/w/reward.py\", line 31, in fn\n    return client.score(x)\n");
  };
  const auto log = [&](const std::string& error, std::string_view caught, int times) {
    std::string text;
    for (int i = 1; i <= 120; ++i) {
      text += cat("step ", i, "/300 reward 0.", 300 + i % 9, " loss 0.0", 100 + i, "\n");
      if (i % 3 == 0 && i <= 3 * times) text += cat("ERROR reward failed\n", trace(caught), error, "\n");
    }
    return cat(text, trace("<module>"), error, "\n");
  };
  for (const std::string error : {"EnvResetFailed: no env", "IndexError: no env", "TimeoutError"}) {
    for (const int times : {3, 8, 30}) {
      CAPTURE(error);
      CAPTURE(times);
      CHECK(state_of(log(error, "run_step", times)).verdict == "crashed");
    }
  }
  // Caught at that level, too: its last line may be of a run that goes on.
  CHECK(state_of(log("EnvResetFailed: no env", "<module>", 30)).verdict != "crashed");
}

}  // namespace
}  // namespace mw
