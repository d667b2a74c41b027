// Shapes of logs that only the reader of a whole run shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

bool in_trouble(const State& state) {
  return std::any_of(state.incidents.begin(), state.incidents.end(),
                     [](const Incident& incident) { return incident.severity > Severity::kInfo; });
}

TEST_CASE("what sums up a training says how far it came where the log's interval does not divide the steps") {
  std::string text = "{\"global_step\": 23, \"max_steps\": 23, \"log_history\": [";
  for (int step = 10; step <= 20; step += 10)
    text += cat("{\"epoch\": 0.", step, ", \"loss\": 0.5, \"learning_rate\": 1e-5, \"step\": ", step, "}, ");
  const State whole = state_of(
      cat(text, "{\"epoch\": 1.0, \"step\": 23, \"total_flos\": 1e9, \"train_loss\": 0.5, \"train_runtime\": 60.0}]}"));
  CHECK(whole.steps().last == 23);
  CHECK(whole.steps().count == 3);
  const State again = state_of(
      cat(text, "{\"epoch\": 1.0, \"step\": 20, \"total_flos\": 1e9, \"train_loss\": 0.5, \"train_runtime\": 60.0}]}"));
  CHECK(again.steps().count == 2);
}

TEST_CASE("a traceback that a logger wrote into one line is read") {
  const std::string steps = "step 1: loss=0.5 reward=0.25\nstep 2: loss=0.5 reward=0.25\n";
  const auto folded = [](std::string_view end) {
    return cat("Traceback (most recent call last):", end, "  File \"/app/train.py\", line 9, in main", end,
               "    fit(batch)", end, "KeyError: 'ids'\n");
  };
  const std::string json =
      "{\"level\": \"ERROR\", \"message\": \"failed\", \"exc_info\": \"Traceback (most recent call last):\\n"
      "  File \\\"/app/train.py\\\", line 9, in main\\n    fit(batch)\\nKeyError: 'ids'\"}\n";
  const std::string data =
      "{\"task\": 7, \"exec_error\": \"Traceback (most recent call last):\\n  File \\\"/app/a.py\\\", line 9, in "
      "main\\n"
      "    go()\\nKeyError: 'ids'\"}\n";
  for (const std::string& text : {folded("\\x0a"), folded("#012"), json}) {
    CAPTURE(text);
    const State state = state_of(cat(steps, text));
    REQUIRE(state.traces.size() == 1);
    CHECK(state.traces[0].trace.exception == "KeyError");
    CHECK(state.traces[0].trace.message == "'ids'");
    CHECK(contains(state.traces[0].trace.frame, "train.py:9 in main"));
    CHECK(state.traces[0].trace.last_line == 3);
    CHECK(in_trouble(state));
    CHECK_FALSE(in_trouble(state_of(cat(steps, text, "step 3: loss=0.5 reward=0.25\nstep 4: loss=0.5 reward=0.25\n"))));
  }
  for (const std::string& text : {data, folded("\\n")}) {  // what a tool gave back
    CAPTURE(text);
    CHECK(state_of(cat(steps, text)).traces.empty());
  }
}

TEST_CASE("figures in the message of a logger's record are read, in a file of records, too") {
  const auto record = [](std::string_view message) {
    return cat(R"({"ts": "2026-01-02T03:04:05Z", "level": "info", "message": ")", message, "\"}\n");
  };
  const auto three = [&](std::string_view before, std::string_view behind) {
    std::string text;
    for (int step = 12; step <= 14; ++step) {
      std::string values(behind);
      values.replace(values.find('5'), 1, std::to_string(step));
      text += record(cat(before, step, values));
    }
    return text;
  };
  for (const std::string& text :
       {three("step ", " loss 0.5 reward 0.25"), three(R"({\"step\": )", R"(, \"loss\": 0.5, \"reward\": 0.25})"),
        three("Training:   1%|    | ", "/100 [00:10<16:30,  1.00s/it, loss=0.5, reward=0.25]")}) {
    for (const std::string_view file : {"train.log", "train.jsonl"}) {
      CAPTURE(text);
      CAPTURE(file);
      const State state = state_of(text, file);
      CHECK(state.steps().last == 14);
      REQUIRE(state.find("reward.mean") != nullptr);
      CHECK(state.find("reward.mean")->count() == 3);
    }
  }
  const State noted = state_of(cat(R"({"step": 1, "loss": 0.5, "level": "info", "message": "step 7 loss 0.5"})", "\n",
                                   R"({"step": 2, "loss": 0.5, "level": "info", "message": "step 8 loss 0.5"})", "\n"),
                               "train.jsonl");
  CHECK(noted.steps().last == 2);
}

TEST_CASE("of ranks that write into one file the first one counts, and what is no number in any") {
  std::string text;
  for (int step = 1; step <= 8; ++step) {
    for (int rank = 0; rank <= 1; ++rank) {
      const std::string_view norm = step >= 6 && rank == 1 ? "NaN" : "0.5";
      text +=
          cat("{\"step\": ", step, ", \"rank\": ", rank, ", \"loss\": ", 2 + rank, ", \"grad_norm\": ", norm, "}\n");
    }
  }
  const State state = state_of(text, "metrics.jsonl");
  REQUIRE(state.find("loss.total") != nullptr);
  CHECK(state.find("loss.total")->count() == 8);
  CHECK(state.find("loss.total")->max() == 2);
  REQUIRE(state.find("grad_norm") != nullptr);
  CHECK(state.find("grad_norm")->non_finite() == 3);
}

TEST_CASE("the report that midwatch run printed below the command's output is none of it") {
  std::string log = "=== midwatch: attempt 1 began 2026-01-02T10:20:30Z (0123abcd), process 4711 ===\n";
  for (int step = 1; step <= 20; ++step) log += cat("step ", step, "/20 loss 0.5 reward ", 0.1 + 0.01 * step, "\n");
  const std::string ended = "=== midwatch: attempt 1 ended 2026-01-02T10:30:30Z (0123abcd), exit status 0 ===\n";
  const std::string report =
      "=== midwatch: report ===\nCRASHED  step 3 of 20. crash: RuntimeError ended the run: no\n"
      "step 15/20 loss 0.5 reward 0.25\nstep 16/20 loss 0.5 reward 0.26\nRuntimeError: no\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.42 GiB.\n";
  const State state = state_of(cat(log, ended, report));
  CHECK(state.attempts.size() == 1);
  CHECK(state.incidents.empty());
  CHECK(state.steps().last == 20);
  // Such a line in the midst of an attempt hides nothing.
  const State forged = state_of(cat(log, report, ended));
  CHECK_FALSE(forged.incidents.empty());
}

TEST_CASE("rollouts of an attempt that begins again are of none of the steps before it") {
  const std::string line = "(MegatronTrainRayActor pid=9) [2026-11-30 10:00:00] ";
  std::string log;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    log += cat("=== midwatch: attempt ", attempt, " began 2026-01-02T1", attempt,
               ":20:30Z (0123abcd), process 4711 ===\n");
    for (int step = 0; step <= 12; ++step) {
      log += cat(line, "train_metric_utils.py:135 - rollout ", step, ": {'rollout/raw_reward': 0.3, ",
                 "'rollout/response_lengths': 421.0}\n", line, "model.py:918 - step ", step,
                 ": {'train/loss': 0.001, 'train/grad_norm': 0.41, 'train/step': ", step, "}\n");
    }
    log += cat("=== midwatch: attempt ", attempt, " ended 2026-01-02T1", attempt,
               ":50:30Z (0123abcd), exit status 1 ===\n");
  }
  const State state = state_of(log);
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[1].first_step == 0);
  CHECK(state.attempts[1].why == "midwatch started the command");
}

TEST_CASE("of ranks that print into one log the first one counts") {
  std::string text;
  for (int step = 1; step <= 8; ++step) {
    text += cat("[rank1]: step ", step, " loss 2.5 reward 0.25\n[rank0]: step ", step, " loss 3.5 reward 0.25\n");
    text += cat("[rank0]: step ", step, " kl 0.5 entropy 1.5\n");
  }
  const State state = state_of(text);
  REQUIRE(state.find("loss.total") != nullptr);
  CHECK(state.find("loss.total")->count() == 8);
  CHECK(state.find("loss.total")->max() == 2.5);
  REQUIRE(state.find("entropy") != nullptr);
  CHECK(state.find("entropy")->count() == 8);
}

TEST_CASE("a record that says that it is an evaluation or the settings is no record of training") {
  std::string text =
      "{\"type\": \"config\", \"model\": \"m/small\", \"lr\": 1e-6, \"config\": {\"num_generations\": 8}, \"time\": "
      "1767225600.5}\n";
  for (int step = 1; step <= 20; ++step) {
    text += cat("{\"type\": \"train\", \"step\": ", step, ", \"loss\": 0.5, \"accuracy\": 0.25}\n");
    if (step % 5 == 0)
      text += cat("{\"type\": \"eval\", \"step\": ", step, ", \"accuracy\": 0.75, \"loss\": 0.125}\n",
                  "{\"split\": \"val\", \"step\": ", step, ", \"reward\": 0.875}\n",
                  "{\"eval\": true, \"step\": ", step, ", \"recall@10\": 0.5, \"ndcg\": 0.25}\n");
  }
  const State state = state_of(text, "metrics.jsonl");
  CHECK(state.steps().count == 20);
  CHECK(state.find("lr") == nullptr);
  REQUIRE(state.find("loss.total") != nullptr);
  CHECK(state.find("loss.total")->min() == 0.5);
  const auto evaluated = [&state](std::string_view raw) {
    const auto found =
        std::find_if(state.eval.begin(), state.eval.end(), [raw](const Series& one) { return one.raw == raw; });
    return found == state.eval.end() ? 0 : found->count();
  };
  CHECK(evaluated("accuracy") == 4);
  CHECK(evaluated("reward") == 4);
  CHECK(evaluated("ndcg") == 4);
  CHECK(state.find("ndcg") == nullptr);
  CHECK(state.config.at("model") == "m/small");
  CHECK(state.config.at("num_generations") == "8");
}

TEST_CASE("a line that begins with the words of an evaluation is none of training's, whatever its names") {
  const auto with = [](const std::function<std::string(int)>& evaluation) {
    std::string text;
    for (int step = 1; step <= 20; ++step) {
      text += cat("step ", step, " loss 0.5 reward 0.25 accuracy 0.25\n");
      if (step % 5 == 0) text += evaluation(step);
    }
    return state_of(text);
  };
  const auto held_out = [](const State& state) {
    size_t count = 0;
    for (const Series& series : state.eval) count += series.count();
    return count;
  };
  const std::function<std::string(int)> forms[] = {
      [](int step) { return cat("[eval] step ", step, " accuracy=0.75\n"); },
      [](int step) { return cat("Eval step ", step, ": accuracy: 0.75\n"); },
      [](int step) { return cat("Validation accuracy at step ", step, ": 0.75\n"); },
      [](int) { return std::string("=== Evaluation ===\naccuracy: 0.75\n"); },
      [](int) { return std::string("Evaluation results: {'accuracy': 0.75, 'n': 200}\n"); },
      [](int step) { return cat("[test] step ", step, " accuracy=0.75\n"); },
      [](int step) { return cat("step=", step, " eval: acc=0.75\n"); },
      [](int step) { return cat("step ", step, " | test acc 0.75\n"); },
      [](int step) { return cat("Step ", step, " | Val reward: 0.875 | Val acc: 0.75\n"); },
      [](int step) { return cat("step ", step, ": val_acc=0.75\n"); },
      [](int step) { return cat("{\"step\": ", step, ", \"val_acc\": 0.75}\n"); },
      [](int step) { return cat("step ", step, ": train loss 0.5, val loss 0.75\n"); },
      [](int) { return std::string("Held-out accuracy: 75%\n"); },
      [](int) { return std::string("Eval accuracy: 150/200 = 75.0%\n"); },
      [](int) { return std::string("Accuracy on test set: 75.0 %\n"); },
  };
  for (const auto& form : forms) {
    const State state = with(form);
    INFO(form(5));
    REQUIRE(state.find("reward.pass_rate") != nullptr);
    CHECK(state.find("reward.pass_rate")->max() == 0.25);
    CHECK(state.find("reward.mean")->max() == 0.25);
    CHECK(state.steps().count == 20);
    CHECK(held_out(state) >= 4);
    for (const Series& series : state.eval)
      CHECK((series.max() < 1 || series.raw == "n" || series.raw.ends_with("/total")));
  }
  // Before any training, a word and a figure in a line are no evaluation.
  CHECK(held_out(state_of("Held-out accuracy: 75%\nstep 1 loss 0.5 reward 0.25\n")) == 0);
  // Its own count of batches is neither a step nor a plan.
  const State batches = with([](int) { return std::string("eval step 2/7 loss 0.125\n"); });
  CHECK(batches.steps().last == 20);
  CHECK(batches.total_steps == 0);
  CHECK(batches.find("loss.total")->min() == 0.5);
  // Words that say nothing of held-out data.
  const State trains = with([](int step) { return cat("step ", step, " contest 0.5 reward 0.25\n"); });
  CHECK(held_out(trains) == 0);
  CHECK(held_out(with([](int) { return std::string("train/val split: accuracy: 0.25 loss: 0.5\n"); })) == 0);
}

TEST_CASE("records of a log that names no step are counted, and said to be") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += cat("[INFO] loss: ", 3 - 0.01 * i, ", grad_norm: ", 2 + 0.1 * (i % 3), "\n");
  const State counted = state_of(text);
  CHECK(counted.steps().count == 40);
  CHECK(counted.steps().last == 40);
  CHECK(counted.only_counts_records());
  CHECK(has_nameless_records(counted));
  // The batches of an epoch whose summary names it are no steps.
  const State summed = state_of(cat(text, "Epoch 1/3 summary: loss: 2.8, grad_norm: 2.1\n"));
  CHECK(summed.steps().last == 1);
  CHECK(!summed.only_counts_records());
}

TEST_CASE("a step in brackets behind a bullet, rows of three words, and figures in brackets before a bar are read") {
  std::string bullets, rows, bars;
  for (int step = 50; step <= 500; step += 50) {
    bullets += cat("2026-01-02 10:20:30 INFO \t * (global step ", step, ": loss: 0.5, lr: 0.001\n");
    rows += cat(step, " train 2.751234\n");
    bars += cat("[loss: ", 4 - 0.001 * step, "]:  50%|#####     | ", step, "/1000 [00:10<00:10,  5.00it/s]\n");
  }
  for (const std::string& text : {bullets, rows, bars}) {
    CAPTURE(text);
    const State state = state_of(text);
    CHECK(state.steps().last == 500);
    CHECK(!state.only_counts_records());
    REQUIRE(state.find("loss.total") != nullptr);
    CHECK(state.find("loss.total")->count() >= 9);
  }
  CHECK(state_of(cat(rows, "500 val 2.912345\n")).eval.size() == 1);
}

TEST_CASE("training lines without a step stay uncounted when an evaluation says its own") {
  std::string text;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) text += "rollout loss: 0.5 reward: 0.25\n";
    text += cat("step ", round, ": val_acc=0.75\n");
  }
  const State state = state_of(text);
  CHECK(state.steps().count == 0);
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->count() == 40);
}

TEST_CASE("a share that is written as a percentage or as a count of a total is a share") {
  for (const std::string_view form : {"accuracy 35%", "accuracy: 35.0 %", "accuracy: 70/200",
                                      "accuracy: 70/200 = 35.0%", "accuracy=35.0% (70/200)", "accuracy: 0.35"}) {
    std::string text;
    for (int step = 1; step <= 8; ++step) text += cat("step ", step, " | loss 0.5 | reward 70 | ", form, "\n");
    const State state = state_of(text);
    INFO(form);
    REQUIRE(state.find("reward.pass_rate") != nullptr);
    CHECK(state.find("reward.pass_rate")->max() == doctest::Approx(0.35));
    CHECK(state.find("reward.mean")->max() == 70);
  }
}

TEST_CASE("what a person tries at the prompt of a debugger is no failure of the run") {
  const std::string begin = "loading the data\n",
                    typed = "(Pdb) *** AttributeError: 'list' object has no attribute 'keys'\n";
  const auto kinds = [](const State& state) {
    std::string all;
    for (const Incident& one : state.incidents) all += cat(one.kind, " ");
    return all;
  };
  CHECK(contains(kinds(state_of(cat(begin, typed.substr(6)))), "code-error"));
  CHECK_FALSE(contains(kinds(state_of(cat(begin, typed, "KeyboardInterrupt\n"))), "code-error"));
}

TEST_CASE("a data loader's worker that got SIGTERM was stopped from outside") {
  const auto kind = [](std::string_view signal) {
    const State state =
        state_of(cat("RuntimeError: DataLoader worker (pid 4410) is killed by signal: ", signal, ". \n"));
    return state.incidents.empty() ? std::string() : state.incidents[0].kind;
  };
  CHECK(kind("Terminated") == "interrupted");
  CHECK(kind("Killed") == "worker-lost");
}

TEST_CASE("a start that is refused after a complete training is said") {
  std::string text;
  for (int step = 10; step <= 60; step += 10) {
    text += cat("{'loss': ", 2.0 - 0.01 * step, ", 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.", step, "}\n");
  }
  text +=
      "{'train_runtime': 600.0, 'train_samples_per_second': 1.0, 'train_steps_per_second': 0.1, 'train_loss': 1.8, "
      "'epoch': 0.6}\n";
  const State whole = state_of(text);
  REQUIRE(whole.verdict == "finished");
  CHECK_FALSE(in_trouble(whole));
  const std::string refused = "train.py: error: the following arguments are required: --output_dir\n";
  CHECK(in_trouble(state_of(cat(text, "usage: train.py [-h]\n", refused))));
  CHECK_FALSE(in_trouble(state_of(cat(text, refused, "one\ntwo\nthree\nfour\nfive\nsix\n"))));  // it went on
}

TEST_CASE("a bar that was drawn many times and stops is no excerpt of a few lines") {
  const auto drawn = [](int from) {
    std::string text = "loading the model\n";
    for (int step = from; step <= 40; ++step) {
      text += cat("\r ", step / 10, "%|#| ", step, "/400 [", step, ":00<", 400 - step, ":00, 60.00s/it]");
    }
    return state_of(text + "\n");
  };
  CHECK(in_trouble(drawn(1)));
  CHECK_FALSE(in_trouble(drawn(38)));
}

}  // namespace
}  // namespace mw
