// What a whole log comes to: the kind of trouble and its first cause.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "read/files/testing/encode.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// "KIND SEVERITY CAUSE" of the first incident of that kind; empty when there is none.
std::string found(const State& state, std::string_view kind) {
  const auto one = std::find_if(state.incidents.begin(), state.incidents.end(),
                                [kind](const Incident& incident) { return incident.kind == kind; });
  if (one == state.incidents.end()) return "";
  const std::string cause = one->causes.empty() ? "" : cat(" ", one->causes.front().id);
  return cat(one->kind, " ", severity_name(one->severity), cause);
}

std::string traceback(std::string_view label, std::string_view file, std::string_view error) {
  return cat(label, "Traceback (most recent call last):\n", label, "  File \"/app/train.py\", line 9, in <module>\n",
             label, "    main()\n", label, "  File \"", file, "\", line 90, in step\n", label, "    go()\n", label,
             error, "\n");
}

std::string steps(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i)
    text += cat("step ", i, " loss 0.", 900 - i, " reward 0.", 300 + i % 7 + 5 * i, "\n");
  return text;
}

TEST_CASE("a program that asks a person where nobody is") {
  const std::string input = "EOFError: EOF when reading a line";
  CHECK(found(state_of(traceback("", "/app/ask.py", input)), "config-error") ==
        "config-error critical waits-for-input");
  const std::string trust =
      "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in <module>\n    main()\n"
      "  File \"/opt/datasets/load.py\", line 133, in resolve_trust_remote_code\n    answer = input(\n";
  CHECK(found(state_of(cat(trust, input, "\n")), "config-error") == "config-error critical trust-remote-code");
  CHECK(found(state_of(cat(steps(4), "> /app/train.py(90)step()\n-> go()\n(Pdb) \n")), "stall") ==
        "stall warning waits-for-input");
}

TEST_CASE("a thread's error behind the frame that PowerShell puts around it ended nothing") {
  const std::string frame =
      "python.exe : Exception in thread Thread-2 (_readerthread):\nAt D:\\w\\run.ps1:95 char:9\n"
      "+         & $Python @Arguments 2>&1 | Tee-Object $Log\n+         ~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
      "    + CategoryInfo          : NotSpecified: (Exception in th...:String) [], RemoteException\n"
      "    + FullyQualifiedErrorId : NativeCommandError\n \n";
  const std::string thread = traceback("", "/app/pipe.py", "ValueError: I/O operation on closed file");
  const std::string end = traceback("", "/app/phase.py", "RuntimeError: Phase 1 stopped before step 25");
  const State state = state_of(cat(frame, thread, steps(7), end));
  REQUIRE_FALSE(state.incidents.empty());
  CHECK(contains(state.incidents.front().summary, "Phase 1 stopped"));
}

TEST_CASE("calls that time out while no step is done") {
  const auto log = [](int timeouts, std::string_view text) {
    std::string out = "INFO:app:Evaluating on 100 problems\n";
    for (int i = 0; i < timeouts; ++i) out += cat("WARNING:app:", text, "\n");
    return out;
  };
  CHECK(found(state_of(log(60, "Timeout on attempt 1, retrying...")), "environment-fault") ==
        "environment-fault warning remote-read-timeout");
  CHECK(found(state_of(log(60, "evaluation of p7 failed: transport: ReadTimeout('')")), "environment-fault") ==
        "environment-fault warning remote-read-timeout");
  CHECK(found(state_of(log(40, "Timeout on attempt 1, retrying...")), "environment-fault").empty());
  CHECK(found(state_of(cat(log(60, "Timeout on attempt 1, retrying..."), steps(4))), "environment-fault").empty());
  CHECK(found(state_of(log(60, "Timeout while reaching huggingface.co, retrying")), "environment-fault").empty());
}

TEST_CASE("a guard that throws every update away") {
  const auto log = [](int times, std::string_view text) {
    std::string out;
    for (int i = 0; i < times; ++i) out += cat("Warning: ", text, "\n");
    return out;
  };
  const std::string large = "Gradient norm too large: 3824.00, skipping update";
  CHECK(found(state_of(log(30, large)), "no-learning") == "no-learning warning weights-not-updating");
  CHECK(found(state_of(cat(steps(20), log(30, large))), "no-learning") == "no-learning warning weights-not-updating");
  CHECK(found(state_of(log(9, large)), "no-learning").empty());
  CHECK(found(state_of(cat(log(12, large), steps(40))), "no-learning").empty());
  CHECK(found(state_of(log(30, "resuming: skipping batch 12 that was trained on already")), "no-learning").empty());
}

TEST_CASE("a callback of one's own in a known trainer prints its steps") {
  const auto log = [](std::string_view values) {
    std::string out = "2026-03-02 10:00:00,001 - __main__ - INFO - GRPOTrainer created\n";
    for (int i = 2; i < 9; ++i) out += cat("2026-03-02 10:00:0", i, ",001 - app - INFO - Step    ", i, values, "\n");
    return out;
  };
  CHECK(state_of(log(" | Loss: 0.0000 | LR: 1.07e-07")).steps().last == 8);
  CHECK(state_of(log(" of the recipe: Loss: 0.5")).steps().count == 0);
}

TEST_CASE("a reward of penalties alone, and nothing right") {
  const auto log = [](int count, const char* most, const char* right) {
    std::string out;
    for (int i = 1; i <= count; ++i)
      out += cat("step:", i, " - critic/score/mean:-0.0", 10 + 37 * i % 60, " - critic/score/max:", most,
                 " - episode/success_rate:", right, " - actor/pg_loss:0.001 - critic/score/min:-0.100\n");
    return out;
  };
  CHECK(found(state_of(log(32, "0.000", "0.000")), "zero-reward") == "zero-reward warning task-too-hard");
  CHECK(found(state_of(log(18, "0.000", "0.000")), "zero-reward").empty());
  CHECK(found(state_of(log(32, "0.000", "0.100")), "zero-reward").empty());
  CHECK(found(state_of(log(32, "1.000", "0.000")), "zero-reward").empty());
}

TEST_CASE("a debugger inside a Ray actor") {
  const std::string_view actor = "(TaskRunner pid=57636) ";
  CHECK(found(state_of(cat(steps(4), actor, "> /app/naive.py(53)__call__()\n", actor, "(Pdb) \n")), "stall") ==
        "stall warning waits-for-input");
}

TEST_CASE("Ray prints the lines that it held back after the signal that ended the run") {
  const std::string_view task = "(TaskRunner pid=3215) ";
  const auto bar = [&](int done) {
    return cat(task, "Training Progress:  33%|###      | ", done, "/3 [16:14<32:29, 974.67s/it]\n");
  };
  const std::string signal = "*** SIGTERM received at time=1786327730 on cpu 125 ***\n";
  const auto record = [&](int step) {
    return cat(task, "step:", step, " - actor/entropy:0.5 - critic/score/mean:0.25 - critic/rewards/mean:0.25 - ",
               "actor/pg_loss:0.1 - response_length/mean:120.0\n");
  };
  const std::string begin = "TaskRunner: verl.trainer.main_ppo\n";
  const State held = state_of(cat(begin, bar(0), bar(1), signal, record(1)));
  CHECK(found(held, "died-silently").empty());
  REQUIRE(held.incidents.size() == 1);
  CHECK(contains(held.incidents[0].summary, "The run was stopped from outside"));
  // A step that the bar had not shown was done after the signal.
  const State went_on = state_of(cat(begin, bar(0), bar(1), record(1), signal, record(2)));
  REQUIRE_FALSE(went_on.incidents.empty());
  CHECK(contains(went_on.incidents[0].summary, "the run went on"));
}

TEST_CASE("an evaluation before the first step, and an end in order that is none") {
  encode::Wandb file;
  file.run("3gg1r8jf", "verl", {}, 1'760'000'000'000);
  file.output("TaskRunner: verl.trainer.main_ppo\n", true, 1'760'000'001'000);
  file.output("(TaskRunner pid=7) step:0 - val-core/math/acc/mean@4:0.25\n", true, 1'760'000'900'000);
  file.history(0, 1'760'000'900, {{"val-core/math/acc/mean@4", "0.25"}});
  file.output("Training Progress:   0%|          | 0/1410 [00:00<?, ?it/s]\n", false, 1'760'000'901'000);
  file.exit(0, 2271);
  const State state = state_of(file.take(), "run-a.wandb");
  CHECK(found(state, "died-silently").starts_with("died-silently warning"));
  CHECK(state.verdict == "ended-early");
}

TEST_CASE("a start that was stopped before its first step, and another one in the same file") {
  const State state = state_of(cat(traceback("", "/app/load.py", "KeyboardInterrupt"), "starting again\n", steps(30)));
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[1].last_step == 30);
  CHECK(state.verdict != "interrupted");
}

TEST_CASE("who says that all is done did not die, whatever the plan was") {
  std::string log;
  for (int i = 0; i <= 9; ++i) log += cat("step ", i, "/15 loss 0.", 900 - i, " reward 0.", 300 + i % 7, "\n");
  CHECK(found(state_of(cat(log, "[hub|WARNING]No files were changed\n")), "died-silently") ==
        "died-silently warning user-cancelled");
  CHECK(found(state_of(cat(log, "[train] All done. Final adapter: /out/final\n[hub|WARNING]No files were changed\n")),
              "died-silently")
            .empty());
}

TEST_CASE("files that stop before they are done") {
  std::string start = "Loading checkpoint shards: 100%|##########| 4/4 [00:02<00:00,  1.9it/s]\n";
  for (int i = 0; i < 60; ++i) start += cat("2026-01-02 03:04:05 INFO part ", i, " is ready\n");
  const auto bar = [](std::string_view title, int percent, int done) {
    return cat(title, ":  ", percent, "%|###   | ", done, "/100 [00:52<00:23, 1.2 examples/s, score=0.9]\n");
  };
  for (const std::string_view title :
       {"GSM8K eval", "(TaskRunner pid=7, ip=10.0.0.2) Filtering prompts longer than 64"}) {
    CAPTURE(title);
    CHECK(contains(found(state_of(cat(start, bar(title, 75, 75))), "died-silently"), "died-silently warning"));
    CHECK(found(state_of(cat(start, bar(title, 95, 95))), "died-silently").empty());
    CHECK(found(state_of(cat(start, bar(title, 75, 75), bar(title, 100, 100))), "died-silently").empty());
  }
  CHECK(found(state_of(cat(start, bar("Processed prompts", 75, 75))), "died-silently").empty());
  std::string records;
  for (int i = 1; i <= 50; ++i) {
    records += cat("{\"current_steps\": ", i, ", \"total_steps\": 1000, \"loss\": 0.", 900 - i,
                   ", \"percentage\": 0.1, \"elapsed_time\": \"0:00:", 10 + i % 50, "\"}\n");
  }
  CHECK(contains(found(state_of(records, "trainer_log.jsonl"), "died-silently"), "died-silently warning"));
  CHECK(state_of(records, "trainer_log.jsonl").framework == "transformers");
}

TEST_CASE("what ended a run began at the step that its bar shows") {
  std::string text = "{'loss': 0.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'reward': 0.5, 'epoch': 0.01}\n";
  for (int i = 1; i <= 6; ++i) text += cat("  ", i, "%|#      | ", i, "/100 [00:", 10 + i, "<08:10,  5.0s/it]\n");
  const State state = state_of(cat(text, traceback("", "/app/loop.py", "KeyboardInterrupt")));
  REQUIRE(!state.incidents.empty());
  CHECK(state.incidents.front().kind == "interrupted");
  CHECK(state.incidents.front().onset.step == 6);
}

TEST_CASE("rows that no batch can be made of") {
  for (const std::string_view error :
       {"ValueError: Unable to create tensor, you should probably activate truncation and/or padding with "
        "'padding=True'",
        "RuntimeError: stack expects each tensor to be equal size, but got [12] at entry 0 and [15] at entry 1"}) {
    CAPTURE(error);
    CHECK(found(state_of(cat(steps(4), traceback("", "/opt/torch/collate.py", error))), "data-error") ==
          "data-error critical rows-differ-in-length");
  }
}

TEST_CASE("of ranks that fail alike the one that said so first is quoted, whichever the launcher names") {
  const std::string error = "RuntimeError: CUDA error: no kernel image is available for execution on the device";
  const State state = state_of(cat(
      steps(3), traceback("[rank2]: ", "/app/kernel.py", error), traceback("[rank0]: ", "/app/kernel.py", error),
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============================================================\ntrain.py FAILED\n"
      "------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
      "------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
      "  time      : 2026-01-02_03:04:05\n  host      : node01\n  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: "
      "7)\n  error_file: <N/A>\n"));
  REQUIRE(!state.incidents.empty());
  CHECK(state.incidents.front().onset.where.line == 4);
}

TEST_CASE("rewards that are zero since the weights met NaN") {
  std::string text;
  for (int i = 1; i <= 60; ++i) {
    const bool lost = i > 30;
    text += cat("{\"step\": ", i, ", \"loss\": ", lost ? "NaN" : cat("0.", 900 - i),
                ", \"reward\": ", lost && i > 31 ? "0.0" : cat("0.", 400 + i % 9),
                ", \"grad_norm\": ", lost ? "NaN" : cat("1.", 100 + i % 5), "}\n");
  }
  const State state = state_of(text, "train.jsonl");
  CHECK(found(state, "non-finite") == "non-finite critical nan-loss");
  const std::string zero = found(state, "zero-reward");
  CHECK((zero.empty() || contains(zero, "nan-loss")));
  CHECK(state.incidents.front().kind == "non-finite");
}

TEST_CASE("what was raised in rollouts, printed without a level, and the reward that fell with it") {
  std::string text;
  for (int i = 1; i <= 60; ++i) {
    const bool down = i > 30;
    for (int task = 0; down && task < 3; ++task) {
      text += cat("[ShopLoop] task_id=", 100 * i + task, " rollout failed: RuntimeError('shop env error: None')\n");
    }
    text += cat("step ", i, " loss 0.", 900 - i, down ? " reward 0.0" : " reward 0.5", i % 9, "\n");
  }
  const State state = state_of(text);
  CHECK(std::any_of(state.templates.begin(), state.templates.end(), [](const TemplateState& message) {
    return message.count == 90 && contains(message.text, "rollout failed: RuntimeError");
  }));
  CHECK(found(state, "environment-fault") == "environment-fault warning env-server-crash-empty-outputs");
}

TEST_CASE("a reward function's own word for what failed, with a reward that was never above zero") {
  const auto log = [](int times) {
    std::string text;
    for (int i = 1; i <= 40; ++i) {
      for (int task = 0; task < times; ++task) {
        text +=
            cat("[reward_fn] error idx=", task, ": Client error '422 Unprocessable Entity' for url 'https://h.example/",
                i, "'\nFor more information check: https://developer.mozilla.org/422\n");
      }
      text += cat("step ", i, " loss 0.", 900 - i, " reward -0.", i % 3, "\n");
    }
    return text;
  };
  const State often = state_of(log(8));
  CHECK(std::any_of(often.templates.begin(), often.templates.end(), [](const TemplateState& message) {
    return message.count == 320 && contains(message.text, "error idx=");
  }));
  CHECK(found(often, "environment-fault") == "environment-fault warning env-server-crash-empty-outputs");
  CHECK(found(state_of(log(2)), "environment-fault").empty());
}

TEST_CASE("rollouts that fail are counted in the log of a known trainer, with those that Ray leaves out") {
  std::string text =
      "TaskRunner: verl.trainer.main_ppo\n(TaskRunner pid=7) 'rollout_n': 4,\n"
      "(TaskRunner pid=7) 'train_batch_size': 4,\n";
  for (int i = 1; i <= 60; ++i) {
    text += cat("(TaskRunner pid=7) step:", i, " - actor/entropy:0.5 - critic/score/mean:0.", 3 + i % 4,
                " - actor/pg_loss:0.1 - response_length/mean:", 100 + i % 9, ".0\n");
    for (int j = 0; j < 6; ++j) text += "(Loop pid=8) an ordinary line\n";
    text += cat("(Loop pid=8) [ShopLoop] task_id=", i, " rollout failed: RuntimeError('env error: None')",
                i % 2 == 0 ? " [repeated 5x across cluster]\n" : "\n");
  }
  const State state = state_of(text);
  CHECK(std::any_of(state.templates.begin(), state.templates.end(), [](const TemplateState& message) {
    return message.count == 180 && contains(message.text, "rollout failed: RuntimeError");
  }));
  CHECK(found(state, "environment-fault") == "environment-fault warning env-server-crash-empty-outputs");
}

TEST_CASE("a trainer's own words about what it learns count when they come often") {
  std::string text;
  for (int i = 1; i <= 30; ++i) {
    text += cat("step ", i, " loss 0.", 900 - i, " reward 0.", 300 + i % 7, "\n");
    text += cat("/opt/trl/ppo_trainer.py:1100: UserWarning: KL divergence is starting to become negative: -", i,
                ".75 - this might be a precursor for failed training.\n");
  }
  CHECK(found(state_of(text), "kl-runaway") == "kl-runaway warning kl-estimate-negative");
  const State once = state_of(cat(steps(30), "UserWarning: KL divergence is starting to become negative: -0.2\n",
                                  "step 31 loss 0.5 reward 0.3\nstep 32 loss 0.5 reward 0.3\n"));
  CHECK(found(once, "kl-runaway") != "kl-runaway warning kl-estimate-negative");
  std::string bar;  // which alone tells how far it is
  for (int i = 1; i <= 400; ++i) {
    bar += cat("ppo_trainer.py:1289: UserWarning: KL divergence is starting to become negative: -", i % 50, ".9\n");
    if (i % 4 == 0) bar += cat(" ", i / 4, "%|##        | ", i / 4, "/100 [03:57<09:00,  4.08s/it]\n");
  }
  CHECK(found(state_of(bar), "kl-runaway") == "kl-runaway warning kl-estimate-negative");
}

TEST_CASE("a script that catches what failed, prints it and gives up has crashed, one that goes on has not") {
  const std::string said = "\xe2\x9d\x8c Error during training: list index out of range\n";
  CHECK(found(state_of(cat(steps(6), said, "Saving what there is\n")), "crash") == "crash critical training-failed");
  const std::string logged = "2026-01-02 03:04:05,984 - __main__ - ERROR - Training failed with error: bad shape\n";
  CHECK(found(state_of(cat(steps(6), logged)), "crash") == "crash critical training-failed");
  CHECK(found(state_of(cat(said, steps(30))), "crash").find("critical") == std::string::npos);
  CHECK(found(state_of(cat(steps(6), "it says 'Training failed: retry' when the queue is full\n")), "crash").empty());
}

TEST_CASE("a logged traceback of one piece of work that is given up ended nothing") {
  const auto log = [](std::string_view behind) {
    const std::string label = "\x1b[36m(LoopWorker pid=1415)\x1b[0m ";
    const std::string error = "TypeError: cannot unpack non-iterable NoneType object";
    std::string trace = traceback(label, "/app/env.py", error);
    trace.insert(label.size(), "ERROR:2026-01-02 03:04:05,691:");
    return cat("(TaskRunner pid=3) trial 1/32 to make a batch\n", trace, label, "\n", label,
               "ERROR:2026-01-02 03:04:05,692:", behind, "\n(TaskRunner pid=3) waiting\n");
  };
  CHECK(found(state_of(log("Error extracting action for item 49873")), "code-error").empty());
  CHECK(found(state_of(log("Error in the loop, which ends")), "code-error").starts_with("code-error critical"));
}

TEST_CASE("answers that a reward's parser cannot read are why nothing is rewarded") {
  std::string log;
  for (int i = 1; i <= 45; ++i) {
    for (int k = 0; k < 8; ++k) log += "Warning: Could not decode JSON from response: ```json\n{\n";
    log += cat("step ", i, " loss 0.", 900 - i, " reward 0.0\n");
  }
  CHECK(found(state_of(log), "zero-reward") == "zero-reward critical reward-parse-failure");
}

}  // namespace
}  // namespace mw
