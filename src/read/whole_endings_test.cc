// What a whole log comes to by its last lines: who or what ended it, and whether its result was there.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string steps(int last) {
  std::string log;
  for (int i = 1; i <= last; ++i)
    log += cat("step ", i, "/60 | reward 0.", 200 + 5 * i + i * 7 % 13, " | kl 0.011 | loss 0.0012 | grad_norm 0.4\n");
  return log;
}

const std::string kTrace =
    "Traceback (most recent call last):\n"
    "  File \"/srv/x/train.py\", line 40, in main\n"
    "    out = f(batch)\n";
const std::string kValueError = kTrace + "ValueError: batch 3 holds no prompt\n";
const std::string kStep = "slurmstepd: error: *** STEP 41.0 ON n7 CANCELLED AT 2026-03-01T10:00:20 ***\n";
const std::string kJob = "slurmstepd: error: *** JOB 41 ON n7 CANCELLED AT 2026-03-01T10:00:20 ***\n";
const std::string kOthers =
    "srun: error: n8: tasks 1-7: Terminated\n"
    "srun: Force Terminated StepId=41.0\n";
const std::string kTask = "srun: error: n7: task 0: Exited with exit code 1\n";

/// The kind of the gravest incident and its first cause.
std::string leading(const State& state) {
  const Incident* worst = nullptr;
  for (const Incident& incident : state.incidents) {
    if (worst == nullptr || incident.severity > worst->severity) worst = &incident;
  }
  return worst == nullptr ? "" : cat(worst->kind, worst->causes.empty() ? "" : cat(" ", worst->causes.front().id));
}

bool says_stopped(const State& state) {
  return std::any_of(state.incidents.begin(), state.incidents.end(),
                     [](const Incident& incident) { return incident.kind == "interrupted"; });
}

TEST_CASE("Slurm's ending a step of which a task had failed is nobody's stop") {
  const std::string oom = kTrace + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB.\n";
  for (const std::string& end : {kValueError + kTask + kStep + kOthers, kValueError + kStep + kTask + kOthers,
                                 kValueError + kStep, kValueError + kValueError + kStep, kStep + kValueError,
                                 kTask + kStep + kOthers, kTask + "srun: launch/slurm: x\n" + kStep}) {
    CAPTURE(end);
    const State state = state_of(steps(30) + end);
    CHECK(state.verdict == "crashed");
    CHECK(leading(state).find("user-cancelled") == std::string::npos);
    CHECK_FALSE(says_stopped(state));
  }
  for (const std::string& end : {oom + kStep + kTask, kStep + oom + kTask}) {  // its words may lie in a buffer
    CAPTURE(end);
    const State state = state_of(steps(30) + end);
    CHECK(state.verdict == "crashed");
    CHECK(leading(state).starts_with("gpu-out-of-memory"));
  }
}

TEST_CASE("a job that Slurm ends after its program could not go on was not interrupted") {
  const std::string missing = kTrace + "ModuleNotFoundError: No module named 'scorers'\n";
  CHECK(state_of(steps(30) + missing + kTask + kJob).verdict == "crashed");
  CHECK(state_of(steps(30) + missing + missing + kTask + kTask + kJob).verdict == "crashed");
  CHECK(state_of(steps(30) + kJob).verdict == "interrupted");
  CHECK(state_of(steps(30) + kJob + missing).verdict == "interrupted");
}

TEST_CASE("a rank's own exception leads over the others that gave up waiting for it") {
  const std::string judge =
      kTrace +
      "requests.exceptions.ConnectionError: HTTPConnectionPool(host='scorer', port=80): Max retries exceeded\n";
  const std::string waited =
      "[rank3]:[E301 10:10:20.000000000 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 "
      "milliseconds before timing out.\n";
  const std::string aborted =
      "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0] x\n"
      "Fatal Python error: Aborted\n";
  CHECK(leading(state_of(steps(30) + judge + waited)).starts_with("network"));
  CHECK(leading(state_of(steps(30) + judge + waited + aborted)).starts_with("network"));
  CHECK(leading(state_of(steps(30) + waited + aborted)).starts_with("collective-timeout"));
  CHECK(leading(state_of(steps(30) + waited + judge)).starts_with("collective-timeout"));
}

TEST_CASE("where the clocks are of different years, the lines show what Slurm made of a failure") {
  const std::string timeout =
      "[rank3]:[E0301 12:10:12.511 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=45390, OpType=ALLREDUCE, NumelIn=1000, NumelOut=1000, Timeout(ms)=600000) ran for 600012 "
      "milliseconds before timing out.\n";
  const auto after = [&](const std::string& clock) {
    return state_of(steps(30) + timeout + "slurmstepd: error: *** STEP 41.0 ON n7 CANCELLED AT " + clock + " ***\n");
  };
  CHECK(leading(after("2019-03-01T12:10:20")).starts_with("collective-timeout"));
  CHECK(leading(after("2019-03-01T12:10:20")).find("user-cancelled") == std::string::npos);
}

TEST_CASE("a step or a job that is cancelled with no failure before it was stopped from outside") {
  const std::string caught = kTrace + "KeyboardInterrupt\n";
  for (const std::string& end : {kStep, kJob, kStep + kOthers, kStep + caught + kTask,
                                 kStep + "srun: error: n7: task 0: Exited with exit code 143\n"}) {
    CAPTURE(end);
    const State state = state_of(steps(30) + end);
    CHECK(leading(state).starts_with("interrupted"));
  }
}

TEST_CASE("what is shut down after the result is there ends nothing") {
  const std::string done = "Saved final model to /ckpt/final\nTraining complete.\n";
  for (const std::string& end :
       {std::string("[2026-03-01 14:10:13] SIGTERM received. signum=None frame=None. Draining requests and shutting "
                    "down...\n"),
        std::string("(EngineCore_0 pid=777) ERROR 03-01 14:10:13 [core_client.py:562] Engine core proc EngineCore_0 "
                    "died unexpectedly, shutting down client.\n"),
        std::string("terminate called without an active exception\nAborted (core dumped)\n"),
        std::string("terminate called without an active exception\n"
                    "./run.sh: line 14: 48211 Aborted                 (core dumped) python train_rl.py\n"),
        std::string("srun: error: n7: task 0: Exited with exit code 134\n"),
        std::string("slurmstepd: error: *** STEP 41.1 ON n7 CANCELLED AT 2026-03-01T10:00:20 ***\n")}) {
    CAPTURE(end);
    const State state = state_of(steps(60) + done + end);
    CHECK(state.verdict == "finished");
    for (const Incident& incident : state.incidents) CHECK(incident.severity == Severity::kInfo);
    const State open = state_of(steps(40) + end);  // in the middle of the plan it is what it is
    CHECK(open.verdict != "finished");
  }
}

TEST_CASE("what fails while the result is being saved ends the run") {
  const std::string saving = "Saving final model to /ckpt/final\n";
  const std::string exit = kTrace + "SystemExit: the final checkpoint is incomplete: shard 5 of 8\n";
  for (const std::string& end :
       {exit, std::string("fatal: shard 5 of 8 was never written, the final model is incomplete\n"),
        std::string("python: /x/ring.c:91: rb_push: Assertion `a != b' failed.\nAborted (core dumped)\n"),
        std::string("./run.sh: line 14: 48211 Killed                  python train_rl.py\n")}) {
    CAPTURE(end);
    const State state = state_of(steps(60) + saving + end);
    CHECK(state.verdict == "crashed");
    CHECK(std::any_of(state.incidents.begin(), state.incidents.end(),
                      [](const Incident& incident) { return incident.severity == Severity::kCritical; }));
  }
  CHECK(state_of(steps(60) + saving + "Saved final model to /ckpt/final\n" + "Aborted (core dumped)\n").verdict ==
        "finished");
  CHECK(state_of(steps(60) + saving).verdict == "finished");
  // The trainer needs its server no more.
  CHECK(state_of(steps(60) + saving +
                 "[2026-03-01 14:10:13] SIGTERM received. signum=None frame=None. Draining requests and shutting "
                 "down...\n")
            .verdict == "finished");
}

TEST_CASE("an exception whose own words are known, with which the log ends, crashed the run") {
  const State state =
      state_of(steps(30) + kTrace + "own.gates.AlignmentGateError: alignment gate RED: ['S_prefill_vs_T_old']\n");
  CHECK(state.verdict == "crashed");
}

/// verl's records, and a sample as its task runner prints one, with `answer` in it.
std::string verl(int last) {
  std::string log = "TaskRunner: verl.trainer.main_ppo\n(TaskRunner pid=7) Total training steps: 60\n";
  for (int i = 1; i <= last; ++i)
    log += cat("(TaskRunner pid=7) step:", i, " - actor/entropy:0.5 - critic/score/mean:0.", 300 + 7 * i % 40,
               " - training/global_step:", i, "\n");
  return log;
}
std::string sample(std::string_view answer) {
  return cat("(TaskRunner pid=7) [prompt] user\n(TaskRunner pid=7) What does it print?\n(TaskRunner pid=7) [response] ",
             answer, "\n(TaskRunner pid=7) ", answer,
             "\n(TaskRunner pid=7) [ground_truth] 42\n(TaskRunner pid=7) [score] 0.0\n");
}

TEST_CASE("what a printed sample says neither ends a run nor leads") {
  for (const std::string_view answer :
       {"slurmstepd: error: *** JOB 41 ON n7 CANCELLED AT 2026-03-01T10:00:20 DUE TO TIME LIMIT ***",
        "KeyboardInterrupt", "Received SIGTERM, saving checkpoint before exit",
        "Early stopping: no improvement for 5 evaluations. Stopping training at step 30.",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        "ERROR 03-01 10:00:20 [core.py:390] EngineCore encountered a fatal error."}) {
    CAPTURE(std::string(answer));
    const State whole = state_of(verl(30) + sample("nothing") + verl(60).substr(verl(30).size()) + sample(answer));
    CHECK(whole.verdict == "finished");
    CHECK_FALSE(says_stopped(whole));
    const State cut = state_of(verl(30) + sample("nothing") + sample(answer) + kTrace +
                               "RuntimeError: NCCL communicator was aborted on rank 1\n");
    CHECK(cut.verdict == "crashed");
    CHECK_FALSE(says_stopped(cut));
  }
  // What the launcher says in its own name ends it.
  CHECK(says_stopped(state_of(verl(30) + sample("nothing") + kJob)));
}

/// Each with a sample in which the model quotes an error, as the trainers print one of their own accord.
TEST_CASE("an error that a printed answer quotes is none of the run") {
  const std::string quoted =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 4, in <module>\n    f()\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.";
  std::string escaped = quoted;
  for (size_t at = escaped.find('\n'); at != std::string::npos; at = escaped.find('\n', at))
    escaped.replace(at, 1, "\\n");
  const auto prefixed = [&quoted](std::string_view before, std::string_view after) {
    std::string all(before);
    for (const char c : quoted + "\n") all += c == '\n' ? cat(after, "\n", before) : std::string(1, c);
    return all.substr(0, all.size() - before.size());
  };
  const auto openrlhf = [](int from, int to) {
    std::string log;
    for (int i = from; i <= to; ++i)
      log += cat("(PPOTrainer pid=42) INFO 11-20 08:", 10 + i, ":00 ppo_trainer.py:547] \u2728 Global step ", i,
                 ": {'policy_loss': 0.01, 'reward': 0.", 300 + 7 * i % 40,
                 ", 'actor_grad_norm': 0.3, 'response_length': 500.0}\n");
    return log;
  };
  const auto trl = [](int from, int to) {
    std::string log;
    for (int i = from; i <= to; ++i)
      log += cat("{'loss': '0.01', 'grad_norm': '0.3', 'reward': '0.", 300 + 7 * i % 40,
                 "', 'completions/mean_length': '500', 'frac_reward_zero_std': '0.2', 'epoch': '0.", 100 + i, "'}\n");
    return log;
  };
  const std::string head = "(PPOTrainer pid=42) INFO 11-20 08:40:30 ppo_trainer.py:520] Sample: ['user Why? assistant ";
  const std::string box = "\u256d\u2500\u2500\u2500 Step 30 \u2500\u2500\u2500\u256e\n";
  const std::string floor = "\u2570\u2500\u2500\u2500\u2500\u2500\u2500\u256f\n";
  const std::string cells = prefixed("\u2502 \u2502 Why \u2502 ", " \u2502 0.00 \u2502 \u2502");
  for (const auto& log :
       {std::array{openrlhf(1, 30), head + escaped + "', 0.5]\n", openrlhf(31, 49)},
        std::array{openrlhf(1, 30),
                   head + "it says\n" + prefixed("(PPOTrainer pid=42) ", "") + "(PPOTrainer pid=42) ', 0.5]\n",
                   openrlhf(31, 49)},
        std::array{trl(1, 30), box + cells + floor, trl(31, 49)}}) {
    CAPTURE(log[1]);
    for (const State& state : {state_of(log[0] + log[1]), state_of(log[0] + log[1] + log[2])}) {
      CHECK(state.verdict != "crashed");
      CHECK(std::none_of(state.incidents.begin(), state.incidents.end(),
                         [](const Incident& one) { return one.kind == "gpu-out-of-memory"; }));
    }
    // What the trainer raises behind it is its own.
    CHECK(state_of(log[0] + log[1] + log[2] + quoted + "\n").verdict == "crashed");
  }
}

/// A Trainer's bar as it is drawn over itself.
std::string bar(std::string_view title, int done, int total, std::string_view elapsed) {
  return cat("\r", title, " ", 100 * done / total, "%|####      | ", done, "/", total, " [", elapsed,
             "<00:10,  1.00it/s]");
}
std::string record(int i) {
  return cat("{'loss': 0.", 500 + i % 7, ", 'grad_norm': 1.", i, ", 'learning_rate': 7e-05, 'epoch': 0.0", i % 10,
             "}\n");
}

TEST_CASE("a bar over texts that are tokenised is not that of the steps, whatever its length") {
  const std::string unreachable =
      "/opt/peft/other.py:61: UserWarning: Unable to fetch remote file due to the following error "
      "(MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded\")) - ignored\n";
  std::string log = bar("", 0, 70000, "00:00") + bar("", 35000, 70000, "00:10") + bar("", 70000, 70000, "00:21") + "\n";
  for (int i = 1; i <= 40; ++i) {
    log += bar("", i, 800, i < 10 ? cat("00:0", i) : cat("00:", i)) + "\n" + record(i);
    if (i == 20) log += unreachable;
  }
  log += kTrace + "KeyboardInterrupt\n";
  const State state = state_of(log);
  CHECK(state.total_steps == 800);
  CHECK(leading(state).find("interrupted") == 0);
}

TEST_CASE("a bar whose title shows the loss is another one at each step, and its end is seen") {
  std::string log = "wandb: Tracking run with wandb version 0.15.12\n";
  log += bar("[loss: 2.10]:", 0, 60, "00:00");
  for (int i = 1; i <= 60; ++i)
    log += bar(cat("[loss: 1.", 60 - i + 10, "]:"), i, 60, i < 10 ? cat("00:0", i) : cat("00:", i % 60));
  log += "\nwandb: Waiting for W&B process to finish... (success).\nwandb: Run summary:\nwandb: loss 1.1\n";
  const State state = state_of(log);
  CHECK(leading(state).empty());
}

TEST_CASE("what a summary says of an earlier iteration is no step") {
  std::string log;
  for (int i = 1; i <= 50; ++i)
    log += cat("[ ", i, "/50]  loss=+0.", 300 + i * 7 % 40, "   reward=+0.", 100 + 3 * i, "\n");
  const State state = state_of(log + "\n# Summary:\n# 0 parse fails: from iteration 25 onward (26 clean iterations)\n");
  CHECK(state.attempts.size() == 1);
  CHECK(leading(state).empty());
}
}  // namespace
TEST_CASE("a helper that a shell says was killed ended nothing where steps follow") {
  const std::string killed = "go.sh: line 1:  2554 Killed                  eval \"$1\"\n";
  const std::string before = steps(30), all = steps(50), after = all.substr(before.size());
  const State went_on = state_of(cat(before, killed, after));
  REQUIRE(went_on.attempts.size() == 1);
  CHECK_FALSE(went_on.attempts.back().ended.has_value());
  CHECK(went_on.verdict != "crashed");
  for (const Incident& incident : went_on.incidents) CHECK(incident.severity != Severity::kCritical);
  // Nothing more comes, or what was still on its way.
  CHECK(state_of(cat(before, killed)).verdict == "crashed");
  CHECK(state_of(cat(before, killed, steps(31).substr(before.size()))).verdict == "crashed");
}

TEST_CASE("what a shell or a launcher says of a signal is no person's stop") {
  struct Row {
    std::string_view words, kind_and_cause;
  };
  for (const Row& row : {Row{"Hangup", "interrupted sighup-terminal-closed"},
                         Row{"User defined signal 1", "interrupted warning-signal-unhandled"},
                         Row{"User defined signal 2", "interrupted warning-signal-unhandled"},
                         Row{"File size limit exceeded(core dumped)", "resource-limit file-size-limit"},
                         Row{"CPU time limit exceeded (core dumped)", "resource-limit cpu-time-limit"},
                         Row{"Quit                    (core dumped)", "interrupted sigterm-received"}}) {
    CAPTURE(row.words);
    const std::string words(row.words), command = "  python -m train \"$@\"\n";
    CHECK(leading(state_of(steps(30) + "train.sh: line 88: 31415 " + words + command)) == row.kind_and_cause);
    const std::string alone(trim(words.substr(0, words.find('('))));
    CHECK(leading(state_of(steps(30) + "srun: error: n1: task 0: " + alone + "\n")) == row.kind_and_cause);
    if (alone == "Quit") continue;  // any program may say that by itself
    CHECK(leading(state_of(steps(30) + words + "\n")) == row.kind_and_cause);
  }
}

TEST_CASE("what the Hub answers is what is wrong, and not that it cannot be reached") {
  struct Row {
    std::string_view answer, more, cause;
  };
  for (const Row& row :
       {Row{"413 Client Error: Payload Too Large", "", "hf-upload-too-large"},
        Row{"400 Client Error: Bad Request", "Your proposed upload is over the limit of 100,000 files per repository.",
            "hf-upload-too-large"},
        Row{"400 Client Error: Bad Request", "Invalid metadata in README.md.", "hf-request-refused"},
        Row{"402 Client Error: Payment Required",
            "You have exceeded your monthly included credits for Inference Providers.", "hf-payment-required"},
        Row{"409 Client Error: Conflict", "You already created this model repo", "hf-commit-conflict"},
        Row{"412 Client Error: Precondition Failed", "A commit has happened since. Please refresh and try again.",
            "hf-commit-conflict"},
        Row{"401 Client Error: Unauthorized", "", "hf-token-refused"},
        Row{"502 Server Error: Bad Gateway", "", "hf-hub-unreachable"}}) {
    CAPTURE(row.answer);
    const std::string first = cat(row.answer, " for url: https://huggingface.co/api/models/me/x/commit/main");
    const std::string caused = kTrace + "requests.exceptions.HTTPError: " + first +
                               "\n\nThe above exception was the direct cause of the following exception:\n\n";
    for (const std::string& before : {std::string(), caused}) {
      CAPTURE(before);
      const std::string end = before + kTrace + "huggingface_hub.errors.HfHubHTTPError: " + first +
                              " (Request ID: Root=1-67401)\n" + (row.more.empty() ? "" : cat("\n", row.more, "\n"));
      CHECK(leading(state_of(steps(30) + end)).ends_with(cat(" ", row.cause)));
    }
  }
}

TEST_CASE("a registry, a provider and NVSHMEM say themselves why the run ended") {
  const auto cause = [](const std::string& line) { return leading(state_of(steps(30) + line + "\n")); };
  const std::string limit = "toomanyrequests: You have reached your unauthenticated pull rate limit.";
  CHECK(cause("docker: Error response from daemon: " + limit) == "environment-fault image-pull-rate-limit");
  CHECK(cause(kTrace + "docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.47/images/create (\"" +
              limit + "\")") == "environment-fault image-pull-rate-limit");
  CHECK(cause("E 11-20 09:03:00 jobs/controller.py:300] Cluster preempted: (sky-x, in us-east-1). Recovering...") ==
        "preempted spot-preemption-notice");
  CHECK(cause("/dvs/src/modules/transport/ibrc/ibrc.cpp:501: NULL value ibv_reg_mr failed\n"
              "/dvs/src/host/init/init.cu:1021: non-zero status: 7 nvshmem setup connections failed") ==
        "worker-lost nvshmem-setup-failed");
}

}  // namespace mw
