#include "read/run_reader.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "core/not_seen.h"
#include "core/plan_bar.h"
#include "platform/fake/fake_disk.h"
#include "read/files/testing/encode.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// Whatever is done between two readings of it takes 10 ms.
class SlowClock final : public Clock {
 public:
  Time now() override { return {1'700'000'000'000'000'000}; }
  Duration steady() override { return steady_ = {steady_.ns + Duration::millis(10).ns}; }
  void pass(Duration time) { steady_.ns += time.ns; }

 private:
  Duration steady_;
};

TEST_CASE("a file of which nothing is known is no run, whether it is text or JSON") {
  const auto says_nothing = [](const std::string& path, const std::string& content) {
    FakeDisk disk;
    disk.put(path, content);
    RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
    REQUIRE(reader.open({path}, "").ok());
    reader.read_all({});
    reader.close();
    return reader.says_nothing();
  };
  CHECK(says_nothing("/w/a.log", "hello\nworld\n"));
  CHECK(says_nothing("/w/a.json", R"([{"name": "x"}, {"name": "y"}])"));
  CHECK(says_nothing("/w/a.jsonl", "{\"name\": \"x\"}\n{\"name\": \"y\"}\n"));
  CHECK_FALSE(says_nothing("/w/a.json", R"([{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.4}])"));
}

TEST_CASE("a live watch judges a quarter of the time at the most, the first at once and none too late") {
  FakeDisk disk;
  SlowClock clock;
  RunReader reader(disk, built_in_knowledge(), Judge::kAlways, nullptr, {}, &clock);
  const auto error = [&] {
    reader.observe("host:test", {clock.now(), {}, event::Matched{"cuda-oom", "out of memory", 1, false}});
    return !reader.owes_judgement();
  };
  clock.pass(Duration::seconds(1));
  (void)error();  // also opens the source
  clock.pass(Duration::seconds(1));
  CHECK(error());
  CHECK_FALSE(error());
  CHECK(reader.judgement_in() <= Duration::millis(30));
  reader.judge_when_due();
  for (int i = 0; i < 3 && reader.owes_judgement(); ++i) reader.judge_when_due();
  CHECK_FALSE(reader.owes_judgement());
  int64_t judged = 0;
  const Duration from = clock.steady();
  for (int i = 0; i < 1000; ++i) judged += error() ? 1 : 0;
  CHECK(judged > 100);
  CHECK(judged < 1000);
  CHECK(4 * judged * Duration::millis(10).ns <= clock.steady().ns - from.ns);

  RunReader replay(disk, built_in_knowledge(), Judge::kAlways, nullptr, {});
  for (int i = 0; i < 100; ++i) {
    replay.observe("host:test", {clock.now(), {}, event::Matched{"cuda-oom", "out of memory", 1, false}});
    CHECK_FALSE(replay.owes_judgement());
  }
}

TEST_CASE("what another process prints into a boxed table loses none of its rows") {
  for (const std::string_view foreign : {"", "lib.py:12: FutureWarning: `baz` is old.\n", "a\nb\nc\nd\n"}) {
    std::string log;
    for (int step = 1; step <= 20; ++step) {
      log += cat("╒═════════════╤══════╕\n│ step        │ ", step, " │\n├─────────────┼──────┤\n", foreign,
                 "│ reward/mean │ 0.5 │\n├─────────────┼──────┤\n│ loss        │ 0.25 │\n╘═════════════╧══════╛\n");
    }
    const State state = state_of(log);
    const Series* reward = state.find("reward.mean");
    REQUIRE(reward != nullptr);
    CHECK(reward->points().size() == 20);
    REQUIRE(state.find("loss.total") != nullptr);
    CHECK(state.find("loss.total")->points().size() == 20);
  }
}

TEST_CASE("the bar of a prediction behind the training says nothing of the steps") {
  std::string log;
  for (int step = 1; step <= 62; ++step) {
    log += cat("  5%|     | ", step, "/62 [00:52<18:07,  5.23s/it]\n");
    if (step % 10 == 0) log += "{'loss': 1.5, 'learning_rate': 0.001, 'epoch': 0.5}\n";
  }
  for (int done = 0; done <= 4; ++done) log += cat("  0%|     | ", done, "/1900 [00:01<31:06,  1.02it/s]\n");
  const State state = state_of("Traceback in transformers/trainer.py\nHfArgumentParser TrainingArguments\n" + log);
  CHECK(state.steps().last == 60);
  CHECK(state.total_steps == 62);
  CHECK(done_by_bar(state) == 62);
  const State mapped = state_of("Traceback in transformers/trainer.py\nHfArgumentParser TrainingArguments\n" + log +
                                "100%|     | 40/40 [00:00<00:00, 53693.96it/s]\n"
                                "100%|     | 25000/25000 [00:00<00:00, 26335.95it/s]\n");
  CHECK(mapped.total_steps == 62);
  CHECK(done_by_bar(mapped) == 62);
}

TEST_CASE("rollouts that are trained on in two steps each are no steps") {
  std::string log = "num_rollout ..................................... 10\n";
  const std::string actor = "(MegatronTrainRayActor pid=901) [2026-08-21 10:20:30] ";
  for (int rollout = 0; rollout <= 5; ++rollout) {
    log += cat(actor, "log_utils.py:53 - rollout ", rollout, ": {'rollout/raw_reward': 0.25}\n");
    for (int step = 2 * rollout; rollout < 5 && step < 2 * rollout + 2; ++step) {
      log += cat(actor, "model.py:670 - step ", step, ": {'train/loss': 0.5, 'train/grad_norm': 0.33}\n");
    }
  }
  FakeDisk disk;
  disk.put("/run/train.log", log);
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/train.log"}, "slime").ok());
  reader.read_all({});
  reader.close();
  const State& state = reader.state();
  CHECK(state.total_steps == 20);
  CHECK(state.steps().last == 10);  // the sixth rollout is what it is trained on
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->points().back().step == 10);
  CHECK(not_seen(state).empty());
}

TEST_CASE("a program's output is read before its errors, in whichever order they are given") {
  const std::string output = "step 1 | loss 0.5 | reward 0.25\nstep 2 | loss 0.5 | reward 0.25\n";
  const std::string errors =
      "Traceback (most recent call last):\n  File \"/srv/rl/train.py\", line 8, in <module>\n    main()\n"
      "IndexError: list index out of range\n";
  for (const auto& [out, err] : {std::pair{"7.out", "7.err"}, std::pair{"stdout.log", "stderr.log"},
                                 std::pair{"job.o7", "job.e7"}, std::pair{"err.stdout", "err.stderr"}}) {
    for (const bool errors_first : {false, true}) {
      FakeDisk disk;
      const std::string first = cat("/run/", out), second = cat("/run/", err);
      disk.put(first, output);
      disk.put(second, errors);
      RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
      REQUIRE(reader.open(errors_first ? std::vector{second, first} : std::vector{first, second}, "").ok());
      reader.read_all({});
      reader.close();
      REQUIRE(reader.state().sources.size() == 2);
      CHECK(reader.state().sources[0].path == first);
      REQUIRE(reader.state().incidents.size() == 1);
      CHECK(reader.state().verdict == "crashed");
    }
  }
}

TEST_CASE("a fault that nothing came after stands open, and is over when steps were done after it") {
  const std::string steps = "step 1 | loss 0.5 | reward 0.25\nstep 2 | loss 0.5 | reward 0.25\n";
  const std::string fault =
      "(raylet) [2025-03-02 11:55:50,123 E 47 48] (raylet) file_system_monitor.cc:116: /tmp/ray/session_1 is over 95% "
      "full, available space: 9.1 GB; capacity: 207 GB. Object creation will fail if spilling is required.\n";
  for (const bool after : {false, true}) {
    const State state = state_of(after ? cat(fault, steps) : cat(steps, fault));
    const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                    [](const Incident& incident) { return incident.kind == "disk-pressure"; });
    REQUIRE(found != state.incidents.end());
    CHECK(found->open == !after);
  }
}

TEST_CASE("what sums up a training is no step of it") {
  std::string log = "Traceback in transformers/trainer.py\nHfArgumentParser TrainingArguments\n";
  for (int step = 1; step <= 14; ++step) {
    log += cat("  5%|     | ", step, "/14 [00:52<18:07,  5.23s/it]\n");
    if (step == 10) log += "{'loss': 1.5, 'learning_rate': 0.001, 'reward': 0.25, 'epoch': 0.7}\n";
  }
  log += "{'train_runtime': 133.8, 'train_steps_per_second': 0.105, 'train_loss': 0.03, 'reward': 0.5, 'epoch': 1.0}\n";
  const State state = state_of(log);
  CHECK(state.steps().first == 10);
  CHECK(state.steps().last == 14);
  CHECK(state.total_steps == 14);
}

TEST_CASE("steps of an answer in Markdown are none of the training's") {
  const State state = state_of(
      "step 20 | loss 0.5 | reward 0.25\n* **Step 1:**  Subtract the smaller number.\n* **Step 2:**  Write it.\n"
      "2. **Step 1: Divide 56 by 7.**\nstep 40 | loss 0.5 | reward 0.25\n");
  CHECK(state.attempts.size() == 1);
  CHECK(state.steps().first == 20);
}

TEST_CASE("a gradient norm at which no training runs stays in trouble while it is as high") {
  for (const bool falls : {false, true}) {
    const State state =
        state_of(cat("step 1 | loss 0.10 | reward 0.25 | grad_norm 2955012562.8\n",
                     "step 2 | loss 0.15 | reward 0.25 | grad_norm ", falls ? "1.5" : "2217390918.5", "\n"));
    const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                    [](const Incident& incident) { return incident.kind == "gradient-spike"; });
    REQUIRE(found != state.incidents.end());
    CHECK(found->open == !falls);
  }
}

TEST_CASE("a row that states its step as text, with the plan behind a slash") {
  std::string log;
  for (int step = 34; step <= 36; ++step) {
    log += cat(R"({"loss": 0.25, "reward": 0.5, "epoch": 0.2, "global_step/max_steps": ")", step, R"(/660"})", "\n");
  }
  FakeDisk disk;
  disk.put("/run/logging.jsonl", log);
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/logging.jsonl"}, "").ok());
  reader.read_all({});
  reader.close();
  CHECK(reader.state().steps().first == 34);
  CHECK(reader.state().steps().last == 36);
  CHECK(reader.state().total_steps == 660);
}

TEST_CASE("a line of an engine that compiles for so many tokens is no step") {
  std::string log;
  for (int size = 8; size <= 128; size *= 2) {
    log += cat("INFO 08-22 03:17:35 [compilation_manager.py:133] Precompile _substitute_fn --> {'num_tokens': 2048, ",
               "'next_tokens_size': ", size, "}\n");
  }
  CHECK(state_of(log).steps().count == 0);
}

TEST_CASE("W&B's samples of the machine are no steps of a trainer whose records are counted") {
  encode::Wandb file;
  for (int64_t i = 0; i < 12; ++i) file.stats(1'760'000'000'000 + i * 10'000, {{"cpu", "12.5"}, {"gpu.0.temp", "61"}});
  for (int64_t step = 30; step <= 300; step += 30) {
    const std::string number = cat(step);
    file.history(step / 30 - 1, static_cast<double>(1'760'000'120 + step),
                 {{"train/global_step", number}, {"train/loss", "0.5"}, {"train/epoch", "0.25"}});
    file.output(cat("\r  5%|     | ", step, "/1954 [00:02<1:32:30,  2.84s/it]\r"), false,
                1'760'000'120'000 + step * 1000);
    file.output("{'loss': 0.5, 'grad_norm': 0.25, 'learning_rate': 1e-06, 'epoch': 0.25}\n", true,
                1'760'000'121'000 + step * 1000);
  }
  FakeDisk disk;
  disk.put("/run/run-a.wandb", file.take());
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/run-a.wandb"}, "trl").ok());
  reader.read_all({});
  reader.close();
  CHECK(reader.state().attempts.size() == 1);
  CHECK(reader.state().steps().first == 30);
  CHECK(reader.state().steps().last == 300);
}

TEST_CASE("a run lasts from its first line with a clock on, whatever that line holds") {
  std::string log = "something without a clock\n2026-01-02 03:00:00,000 - INFO - Loading the data\n";
  for (int i = 0; i < 50; ++i) log += "2026-01-02 03:10:00,000 - INFO - Nothing that counts\n";
  log += "2026-01-02 04:00:00,000 - ERROR - It could not be read\n";
  const State state = state_of(log);
  CHECK(state.first_at == *parse_time("2026-01-02T03:00:00Z"));
  CHECK(state.last_at == *parse_time("2026-01-02T04:00:00Z"));
}

bool in_trouble(const State& state) {
  return std::any_of(state.incidents.begin(), state.incidents.end(),
                     [](const Incident& incident) { return incident.severity > Severity::kInfo; });
}

TEST_CASE("what the interpreter ignores at its end is no failure, the same words alone are one") {
  std::string log;
  for (int step = 1; step <= 20; ++step) log += cat("step ", step, " loss 0.5 reward 0.25\n");
  const std::string trace =
      "Traceback (most recent call last):\n  File \"w.py\", line 590, in call\n    go()\nKeyError: 'modules'\n";
  CHECK_FALSE(in_trouble(state_of(cat(log, "Exception ignored in: <finalize object at 0x79; dead>\n", trace))));
  CHECK(in_trouble(state_of(cat(log, trace))));
  CHECK(in_trouble(state_of(cat(log, "KeyError: 'modules'\n"))));
}

TEST_CASE(
    "answers that are all as long as the limit are cut off, also where only prompt and answer together are recorded") {
  const auto log_of = [](auto answer) {
    std::string log;
    for (int step = 1; step <= 12; ++step) {
      const int prompt = 79 + 13 * (step % 5);
      log += cat("20260115-08:00:0", step % 10, ".100 StatsLogger INFO: Epoch 1/1 Step ", step, "/500 Train step ",
                 step, "/500 done.\n20260115-08:00:0", step % 10, ".200 StatsLogger INFO: Stats (1/1):\n",
                 "╒══════╤══════╤══════╤══════╕\n│ grpo_actor/seq_len/avg │ ", prompt + answer(step),
                 " │ grpo_actor/prompt_len/avg │ ", prompt, " │\n├──────┼──────┼──────┼──────┤\n",
                 "│ grpo_actor/no_eos_ratios/avg │ 0.25 │ grpo_actor/lr │ 1e-6 │\n╘══════╧══════╧══════╧══════╛\n");
    }
    return log;
  };
  const auto cut_off = [](const State& state) {
    return std::any_of(state.incidents.begin(), state.incidents.end(), [](const Incident& incident) {
      return incident.kind == "truncation" && incident.severity == Severity::kWarning;
    });
  };
  CHECK(cut_off(state_of(log_of([](int) { return 768; }))));
  CHECK_FALSE(cut_off(state_of(log_of([](int step) { return 600 + 9 * (step % 4); }))));
}

TEST_CASE("an exception without its traceback is why the program ended whose launcher says so right behind it") {
  std::string log;
  for (int step = 1; step <= 400; ++step) log += cat("step ", step, " loss 0.5 reward ", 0.1 + 0.001 * step, "\n");
  const std::string exception = "KeyError: 'advantages'\n", end = "trainer-1 exited with code 1\n";
  const State state = state_of(cat(log, exception, "closing the writers\n", end));
  REQUIRE(!state.incidents.empty());
  CHECK(state.incidents.back().kind == "code-error");
  CHECK(state.incidents.back().severity == Severity::kCritical);
  CHECK(state.incidents.back().summary.find("advantages") != std::string::npos);
  // far from the end, or with no word of a failure, it is a line like others
  const std::string more = cat("step 401 loss 0.5 reward 0.51\n", std::string(100, '\n'));
  CHECK(state_of(cat(log, exception, more, end)).incidents.back().kind == "crash");
  CHECK_FALSE(in_trouble(state_of(cat(log, exception, more, "Training finished\n"))));
}

TEST_CASE("what an attempt wrote to its own file comes before the keeper's line that it ended") {
  FakeDisk disk;
  FakeClock clock;
  disk.put("/run/out.log", "=== midwatch: attempt 1 began 2026-01-02T10:20:30Z (0123abcd), process 4711 ===\n");
  disk.put("/run/run.log", "step 1/30 loss 0.5 reward 0.01\nstep 2/30 loss 0.5 reward 0.02\n");
  RunReader reader(disk, built_in_knowledge(), Judge::kAlways, nullptr, {}, &clock);
  reader.trust_keeper("0123abcd");
  REQUIRE(reader.open({"/run/out.log", "/run/run.log"}, "").ok());
  while (reader.turn() > 0) {
  }
  disk.write("/run/out.log", "=== midwatch: attempt 1 ended 2026-01-02T10:20:40Z (0123abcd), exit status 1 ===\n");
  disk.write("/run/run.log",
             "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n"
             "ConnectionResetError: [Errno 104] Connection reset by peer\n");
  while (reader.turn() > 0) {
  }
  REQUIRE(reader.state().incidents.size() == 1);
  CHECK(reader.state().incidents.front().kind == "network");
}

TEST_CASE("a program that falls over what it does after its training is reported, one that cleans up is not") {
  std::string log = "from trl import GRPOTrainer\n";
  for (int step = 1; step <= 20; ++step) log += cat("{'loss': 0.5, 'reward': 0.25, 'step': ", step, "}\n");
  log += "{'train_runtime': 6452.0, 'train_loss': -0.01, 'epoch': 1.0}\n";
  const std::string trace =
      "Traceback (most recent call last):\n  File \"pilot.py\", line 179, in dump\n    go()\n"
      "TypeError: Object of type bool_ is not JSON serializable\n";
  CHECK(in_trouble(state_of(cat(log, trace))));
  CHECK_FALSE(in_trouble(state_of(cat(log, "Exception ignored in: <function Pool.__del__>\n", trace))));
  CHECK_FALSE(in_trouble(state_of(log)));
}

TEST_CASE("a program in a temporary folder is a tool's, unless the log ends with its traceback") {
  const std::string trace =
      "Traceback (most recent call last):\n  File \"/tmp/work/train.py\", line 10, in <module>\n    go()\n"
      "RuntimeError: the data loader gave an empty batch\n";
  std::string log = "from trl import GRPOTrainer\n";
  for (int step = 1; step <= 20; ++step) {
    log += cat("{'loss': 0.5, 'reward': 0.25, 'step': ", step, "}\n");
    if (step == 10) log += trace;
  }
  CHECK_FALSE(in_trouble(state_of(log)));
  CHECK(in_trouble(state_of(cat(log, trace))));
}

std::string bar(int done, int total) {
  return cat(" 50%|#####     | ", done, "/", total, " [00:52<04:30,  5.20s/it]\n");
}
std::string trained(int from, int to, int total) {
  std::string log;
  for (int step = from; step <= to; ++step)
    log += cat(bar(step, total), "{'loss': 1.5, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n");
  return log;
}

TEST_CASE("the bar of a prediction after the training is no plan of the training, that of a second training is one") {
  const std::string first = cat("from trl import SFTTrainer\n", trained(1, 60, 60));
  const std::string predicts = cat("***** Running Prediction *****\n", bar(0, 1900), bar(2, 1900), bar(3, 1900));
  CHECK(state_of(cat(first, predicts)).total_steps == 60);
  const State again = state_of(cat(first, bar(0, 90), trained(1, 70, 90)));
  CHECK(again.total_steps == 90);
  REQUIRE(again.attempts.size() == 2);
  CHECK(again.attempts[0].last_step == 60);
  CHECK(again.attempts[0].total_steps == 60);
  CHECK(again.attempts[1].total_steps == 90);
  CHECK(again.attempts[1].first_step == 1);
  CHECK(again.attempts[1].last_step == 70);
}

TEST_CASE("workers that torchrun starts again are another attempt, which overcomes what ended the first") {
  const auto step = [](int number) { return cat("step:", number, " - actor/pg_loss:0.1 - critic/rewards/mean:0.5\n"); };
  std::string log;
  for (int i = 1; i <= 25; ++i) log += step(i);
  log +=
      "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/app/train.py\", line 10, in <module>\n"
      "[rank1]:     go()\n[rank1]: RuntimeError: the tokenizer returned no ids for sample 17\n"
      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/app/train.py\", line 8, in <module>\n"
      "[rank0]:     dist.barrier()\n[rank0]: RuntimeError: [tcp/pair.cc:547] Connection closed by peer "
      "[127.0.0.1]:34991\n"
      "E1127 01:11:24.145000 540 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
      "local_rank: 1 "
      "(pid: 670) of binary: /usr/bin/python3\n";
  for (int i = 21; i <= 60; ++i) log += step(i);
  const State state = state_of(log);
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[0].last_step == 25);
  CHECK(state.attempts[1].first_step == 21);
  CHECK(state.attempts[1].last_step == 60);
  REQUIRE_FALSE(state.incidents.empty());
  CHECK(state.incidents.front().kind == "crash");
  CHECK(contains(state.incidents.front().summary, "the tokenizer returned no ids for sample 17"));
  for (const Incident& one : state.incidents) CHECK((one.severity != Severity::kCritical || one.onset.attempt == 0));
}

TEST_CASE("what a record shows is of its own step and quoted from it, whatever bar is drawn on its line") {
  std::string log = "from trl import GRPOTrainer\n";
  const auto drawn = [](int done) { return cat("\r 50%|#####     | ", done, "/60 [00:52<04:30,  5.20s/it]"); };
  for (int step = 1; step <= 30; ++step) {
    log += cat(drawn(step - 1), drawn(step), "\r", std::string(40, ' '), "\r{'loss': ", step < 25 ? "0.5" : "nan",
               ", 'grad_norm': 0.5, 'learning_rate': 1e-05, 'reward': 0.5, 'epoch': ", 0.01 * step, "}\n");
  }
  const State state = state_of(log);
  REQUIRE(in_trouble(state));
  const Incident& incident = state.incidents.front();
  CHECK(incident.kind == "non-finite");
  CHECK(incident.summary == "loss.total is nan from step 25 on, 6 records");
  CHECK(incident.onset.step == 25);
  for (const Evidence& evidence : incident.evidence) CHECK_FALSE(contains(evidence.text, "%|"));
}

TEST_CASE("a bar on the line of a traceback says how far the run had come") {
  std::string last = bar(43, 62);
  last.pop_back();
  const State state = state_of(cat("from trl import SFTTrainer\n", trained(1, 40, 62), last,
                                   "Traceback (most recent call last):\n  File \"train.py\", line 5, in <module>\n"
                                   "    go()\nRuntimeError: shapes differ\n"));
  REQUIRE(state.progress.count("training") == 1);
  CHECK(state.progress.at("training").done == 43);
  CHECK(state.verdict == "crashed");
}

TEST_CASE("each start of DeepSpeed's launcher is an attempt, and it states how the attempt ended") {
  const std::string start =
      "[2026-01-02 10:20:30,813] [INFO] [runner.py:607:main] cmd = /opt/py/bin/python3 -u -m deepspeed.launcher.launch "
      "--world_info=e30= train.py\nfrom trl import SFTTrainer\n";
  const std::string end =
      "[2026-01-02 10:30:30,813] [ERROR] [launch.py:325:sigkill_handler] ['/opt/py/bin/python3', '-u', 'train.py', "
      "'--local_rank=1'] exits with return code = 1\n";
  const State state = state_of(cat(start, trained(1, 10, 218), end, start, bar(0, 78), end, start, trained(1, 62, 62),
                                   bar(0, 1900), bar(4, 1900), end));
  REQUIRE(state.attempts.size() == 3);
  CHECK(state.attempts[0].last_step == 10);
  CHECK(state.attempts[0].total_steps == 218);
  CHECK(state.attempts[2].last_step == 62);
  CHECK(state.attempts[2].total_steps == 62);
  CHECK(state.attempts[2].ended.has_value());
  CHECK(state.verdict == "crashed");
  const auto loops = [](const State& of) {
    return std::any_of(of.incidents.begin(), of.incidents.end(), [](const Incident& one) {
      return !one.causes.empty() && one.causes.front().id == "autoretry-crash-loop";
    });
  };
  CHECK_FALSE(loops(state));  // three jobs of one script
  CHECK(loops(state_of(cat(start, bar(0, 78), end, start, bar(0, 78), end, start, bar(0, 78), end))));
}

/// What transformers keeps in each checkpoint: all that was logged up to it.
std::string history_to(int64_t step) {
  std::string text = cat("{\"global_step\": ", step, ", \"log_history\": [");
  for (int64_t i = 1; i <= step; ++i) text += cat(i > 1 ? ", " : "", "{\"step\": ", i, ", \"reward\": 0.5}");
  return text + "]}";
}

TEST_CASE("of the histories in a run's checkpoints the newest is read, and no other when it has gone") {
  FakeDisk disk;
  for (const int64_t step : {80, 100, 120})
    disk.put(cat("/run/out/checkpoint-", step, "/trainer_state.json"), history_to(step));
  disk.put("/run/other/checkpoint-40/trainer_state.json", history_to(40));
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run"}, "").ok());
  reader.read_all({});
  std::vector<std::string> read;
  for (const SourceState& source : reader.state().sources) read.push_back(source.path);
  CHECK(read == std::vector<std::string>{"/run/other/checkpoint-40/trainer_state.json",
                                         "/run/out/checkpoint-120/trainer_state.json"});
  disk.unlink("/run/out/checkpoint-120/trainer_state.json");
  CHECK_FALSE(reader.look_again());
}

TEST_CASE("how often a log says something is counted to its end") {
  std::string log = "step 1 loss: 0.5\n";
  for (int i = 0; i < 11; ++i) log += "2026-01-15 10:00:00,000 ERROR judge request 17 failed\n";
  const State state = state_of(log);
  REQUIRE(state.templates.size() == 1);
  CHECK(state.templates[0].count == 11);
}

}  // namespace
}  // namespace mw
