// What scripts print that somebody wrote for one training: bars, epochs, lists.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// The values of a signal in the order of their points.
std::vector<double> values_of(const State& state, std::string_view signal) {
  std::vector<double> out;
  if (const Series* series = state.find(signal)) {
    for (const Point& point : series->points()) out.push_back(point.value);
  }
  return out;
}

TEST_CASE("values in the title of a bar, which is drawn more often than they are set") {
  std::string text;
  const auto draw = [&text](int step, std::string_view title) {
    text += cat(title, ":   2%|2         | ", step, "/100 [00:10<08:10,  5.0s/it]\n");
  };
  draw(1, "Loss: 6.25 | Acc: 0.25");
  draw(2, "Loss: 5.75 | Acc: 0.25");
  draw(3, "Loss: 5.75 | Acc: 0.25");
  draw(4, "Loss: 5.5 | Acc: 0.5");
  const State state = state_of(text);
  CHECK(values_of(state, "loss.total") == std::vector<double>{6.25, 5.75, 5.5});
  CHECK(state.steps().last == 4);
  const State still = state_of(cat(text, "Loss: 5.5 | Acc: 0.5:   9%|9         | 9/100 [00:10<08:10,  5.0s/it]\n"));
  CHECK(still.steps().last == 9);  // the step went on
  CHECK(values_of(still, "loss.total").size() == 3);
  // A loss that no update moves is drawn alike from the first step on.
  std::string frozen;
  for (int step = 1; step <= 4; ++step) {
    frozen += cat("Epoch 0:   2%|2         | ", step, "/100 [00:10<08:10,  5.0s/it, loss=0.693, reward=0]\n");
  }
  CHECK(values_of(state_of(frozen), "loss.total").size() == 4);
}

TEST_CASE("the figures of an update behind a bar over what is rolled out") {
  std::string text;
  for (int step = 1; step <= 40; ++step) {
    const int update = step / 10;
    text += cat("Episode [1/4]:   2%|2         | ", step, "/100 [00:10<08:10,  5.0s/it, policy_loss=0.0", 83 + update,
                ", actor_lr=3.87e-7, kl=0.00", 3 + update, ", reward=-1.", 77 - update, ", return=-1.7]\n");
  }
  const State state = state_of(text);
  CHECK(values_of(state, "reward.mean") == std::vector<double>{-1.77, -1.76, -1.75, -1.74, -1.73});
  CHECK(state.steps().last == 40);
}

TEST_CASE("a trainer that counts nothing but epochs, and sums each up") {
  const auto epoch = [](int number, std::string_view loss) {
    return cat("Epoch ", number, " complete:\n  Loss: ", loss, "\n  Reward: 0.", number, "\n\n");
  };
  const State state = state_of(cat("Training for 3 epochs\n", epoch(1, "0.5"), epoch(2, "0.4"), epoch(3, "0.25")));
  CHECK(values_of(state, "loss.total") == std::vector<double>{0.5, 0.4, 0.25});
  CHECK(state.steps().last == 3);
  const auto step = [](int number) { return cat("step ", number, " loss 0.5 reward 0.25\n"); };
  const State counted = state_of(cat(step(1), step(2), "Epoch 1 complete:\n  Loss: 0.5\n", step(3), step(4)));
  CHECK(counted.steps().last == 4);
}

TEST_CASE("records that count the steps of each epoch anew") {
  const auto record = [](int epoch, int step) {
    return cat("{\"epoch\": ", epoch, ", \"step\": ", step, ", \"loss\": 0.", epoch, step, ", \"reward\": 0.5}\n");
  };
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 10; step <= 40; step += 10) text += record(epoch, step);
  }
  const State state = state_of(text, "train.jsonl");
  CHECK(state.steps().last == 140);  // 40, then ten between two records, in each of two epochs
  CHECK(state.attempts.size() == 1);
  // One epoch beside steps that go on counting changes nothing.
  const State plain = state_of(cat(record(0, 10), record(0, 20), record(1, 30), record(1, 40)), "train.jsonl");
  CHECK(plain.steps().last == 40);
}

TEST_CASE("a list of rewards on a line that says its step") {
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    text += cat("[step ", step, "/200] rewards=['0.80', '0.20'] loss=0.", step, "\n");
  }
  const State state = state_of(text);
  CHECK(values_of(state, "reward.mean") == std::vector<double>{0.5, 0.5, 0.5, 0.5});
  CHECK(state.steps().last == 4);
  CHECK(state.total_steps == 200);
}

TEST_CASE("how one answer was judged is no record, and a batch of rollouts begins a step") {
  const std::string answer = "Metrics:  {'format_reward': 1.0, 'answer_reward': 0.0, 'reward': 0.0}\n";
  std::string text;
  for (int step = 0; step < 4; ++step) {
    text += cat("rollout batch ", step, " generated, length: 256\n", answer, "loss: 0.", 50 + step,
                ", token_entropy: 0.5, mean_reward: 0.", 25 + step, "\n", answer);
  }
  const State state = state_of(text);
  CHECK(values_of(state, "reward.mean") == std::vector<double>{0.25, 0.26, 0.27, 0.28});
  CHECK(state.steps().last == 3);
}

TEST_CASE("figures before a dict and in it are of one record") {
  std::string text;
  for (int step = 0; step < 4; ++step) {
    text += cat("rollout batch ", step, " generated, length: 256\n2026-01-02 03:04:05,678 - train - INFO - rl_loss: 0.",
                50 + step, ", time: 122.6, token_entropy: 0.5, reward_data: {'total_num': 256, 'mean_reward': 0.",
                25 + step, "}\n");
  }
  const State state = state_of(text);
  CHECK(values_of(state, "reward.mean") == std::vector<double>{0.25, 0.26, 0.27, 0.28});
  CHECK(values_of(state, "loss.total") == std::vector<double>{0.5, 0.51, 0.52, 0.53});
  CHECK(values_of(state, "entropy") == std::vector<double>{0.5, 0.5, 0.5, 0.5});
  CHECK(state.steps().last == 3);
}

TEST_CASE("records of single games, and of games that are an evaluation") {
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    text += cat(R"({"log_type": "train", "step": )", step, R"(, "word": "COYLY", "solved": )",
                step == 3 ? "true" : "false", R"(, "final_reward": -1.0, "loss_at_step": 0.69})", "\n");
  }
  text += R"({"log_type": "eval", "step": 4, "word": "PLUCK", "solved": true, "final_reward": 0.0})"
          "\n";
  const State state = state_of(text, "training_metrics.jsonl");
  CHECK(values_of(state, "reward.mean") == std::vector<double>{-1, -1, -1, -1});
  CHECK(values_of(state, "reward.pass_rate") == std::vector<double>{0, 0, 1, 0});
  CHECK(values_of(state, "loss.total") == std::vector<double>{0.69, 0.69, 0.69, 0.69});
  CHECK(state.eval.size() == 2);
}

TEST_CASE("what was done in the steps of an episode is no step of the training") {
  std::string text;
  for (int episode = 0; episode < 3; ++episode) {
    for (int step = 1; step <= 5; ++step) {
      text += cat(R"({"episode_idx": )", episode, R"(, "step": )", step,
                  R"(, "action_type": "NO_OP", "reward": 0.6, "is_valid": true})", "\n");
    }
  }
  const State state = state_of(text, "step_metrics.jsonl");
  CHECK(state.steps().count == 0);
  CHECK(state.attempts.size() <= 1);
}

TEST_CASE("what is counted per step is no step, and iterations may be written short") {
  const State rate = state_of("iters 1 loss 0.5 reward 0.25\niters 2 loss 0.4 reward 0.25 resample/step: 10\n");
  CHECK(rate.steps().last == 2);
  const State owned = state_of("train/step: 7 loss: 0.5 reward: 0.25\ntrain/step: 8 loss: 0.5 reward: 0.5\n");
  CHECK(owned.steps().last == 8);
}

TEST_CASE("a record behind a bar that ended without a new line says its own step") {
  std::string text;
  for (int step = 50; step <= 200; step += 50) {
    text += cat("Tuning:  25%|##5       | ", step, "/200 [09:39<1:46:34, 42.63s/it]  Step ", step, " | loss=0.", step,
                " | reward=0.", step, " | entropy=0.629\n");
  }
  const State state = state_of(text);
  CHECK(state.steps().last == 200);
  CHECK(values_of(state, "reward.mean").size() == 4);
  CHECK(values_of(state, "entropy").size() == 4);
}

TEST_CASE("a dict behind a bar that ended without a new line, and an evaluation's bar between them") {
  std::string text;
  const auto bar = [&text](int done, int total) {
    text += cat("   2%|2         | ", done, "/", total, " [00:31<55:12, 31.2s/it]");
  };
  for (int step = 1; step <= 60; ++step) {
    bar(step, 60);
    text += cat("{'loss': 0.", 10 + step, ", 'learning_rate': 1e-06, 'reward': 0.2", step, ", 'epoch': 0.1}\n");
    if (step % 20 != 0) continue;
    for (const int done : {0, 16, 32}) bar(done, 32), text += done < 32 ? "\n" : "";
    text += "{'eval_loss': 0.01, 'eval_runtime': 740.2, 'epoch': 0.33}\n";
  }
  const State state = state_of(text);
  CHECK(state.attempts.size() <= 1);
  CHECK(state.total_steps == 60);
  CHECK(state.steps().last == 60);
  CHECK(values_of(state, "reward.mean").size() == 60);
}

TEST_CASE("what was trained twice is numbered by its epochs, or by the step that the trainer says it goes on from") {
  const auto record = [](int step) {
    return cat("{'loss': 0.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'reward': 0.", 100 + step,
               ", 'epoch': ", format_short(step / 70.0, 4), "}\n");
  };
  for (const std::string_view word : {"", "  Continuing training from global step 30\n"}) {
    CAPTURE(word);
    std::string text;
    for (int step = 1; step <= 44; ++step) text += record(step);
    text += cat("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nRuntimeError: no\n", word);
    for (int step = 31; step <= 70; ++step) text += record(step);
    const State state = state_of(text);
    CHECK(state.steps().first == 1);
    CHECK(state.steps().last == 70);
    const Series* reward = state.find("reward.mean");
    REQUIRE(reward != nullptr);
    for (const Point& point : reward->points())
      CHECK(point.value == doctest::Approx(0.1 + 0.001 * static_cast<double>(point.step)));
  }
}

TEST_CASE("a failure under a rule is read") {
  const std::string rule(56, '=');
  for (const int between : {0, 1, 2}) {
    std::string text = cat("step 1/9 loss=0.5 reward=0.25\n", rule, "\n");
    for (int i = 0; i < between; ++i) text += "some words\n";
    const State state = state_of(text + "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n");
    REQUIRE(state.incidents.size() == 1);
    CHECK(state.incidents[0].kind == "host-out-of-memory");
  }
}

TEST_CASE("an answer that is cut within a dict takes no step of a trainer that nobody described") {
  for (const std::string_view answer : {"{\n  \"name\": \"John\",\n", "{\"name\": \"f\", \"arguments\": {\"x\": 1}\n",
                                        "{'question': 'x',\n 'answer': [1,\n", "```json\n{\n  \"value\": \"val\n"}) {
    CAPTURE(answer);
    std::string text;
    for (int step = 1; step <= 60; ++step) {
      text += cat("step ", step, "/60 loss=0.", 10 + step, " reward=0.", 10 + step, "\n");
      if (step % 20 == 0) text += cat("sample:\n", answer);
    }
    const State state = state_of(text);
    CHECK(values_of(state, "reward.mean").size() == 60);
    CHECK(state.steps().last == 60);
  }
}

TEST_CASE("a bar that is drawn behind its record begins anew with the process, not between the record and the bar") {
  std::string text;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    text += cat("=== midwatch: attempt ", attempt, " began 2026-01-02T10:2", attempt,
                ":30Z (0123abcd), process 4711 ===\n");
    for (int step = 1; step <= (attempt == 1 ? 12 : 20); ++step) {
      text +=
          cat("{'loss': 0.0231, 'grad_norm': 0.4, 'learning_rate': 1e-06, 'num_tokens': ", step, "000.0, ",
              "'completions/mean_length': 250.1, 'rewards/reward_fn/mean': 0.3, 'reward': 0.3, 'reward_std': 0.1, ",
              "'kl': 0.001, 'epoch': 0.0", step, "}\n", 5 * step, "%|##   | ", step, "/20 [00:01<01:00,  0.4s/it]\n");
    }
    if (attempt == 1) text += "=== midwatch: attempt 1 ended 2026-01-02T10:21:50Z (0123abcd), exit status 3 ===\n";
  }
  const State state = state_of(text);
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[0].last_step >= 11);
  CHECK(state.attempts[1].first_step <= 1);
  CHECK(state.attempts[1].last_step >= 19);
}

TEST_CASE("what each GPU does and what the whole group does are two figures") {
  std::string text = "Logged data to /data/nemo-rl-logs/exp_008/train_data_step1.jsonl\n";
  for (int step = 1; step <= 3; ++step) {
    text +=
        cat("\n========================= Step ", step, "/50 =========================\n▶ Preparing batch...\n",
            "▶ Generating responses for batch of size 512...\n▶ Processing rewards...,\n▶ Computing advantages...\n",
            "▶ Training policy...\n\n📊 Training Results:\n  • Loss: 0.0219\n  • Generation KL Error: 0.0006\n",
            "  • Avg Reward: 0.3184\n  • Mean Generation Length: 616.4766\n\n⏱️  Timing:\n",
            "  • Total step time: 44.74s\n  • policy_training: 5.06s (11.3%)\n\n🔍 Performance Metrics:\n",
            "  • Throughputs (per GPU):\n    - E2E (Samples/sec/gpu): 1.43\n    - E2E (Tokens/sec/gpu): 103", step,
            ".79\n  • Throughputs (per Group):\n    - E2E (Samples/sec): 11.44\n    - E2E (Tokens/sec): 826", step,
            ".34\n");
  }
  const State state = state_of(text);
  CHECK(state.framework == "nemo-rl");
  CHECK(values_of(state, "throughput.tokens") == std::vector<double>{1031.79, 1032.79, 1033.79});
  CHECK(values_of(state, "throughput.samples") == std::vector<double>{1.43, 1.43, 1.43});
  const Series* tokens = state.find("throughput.tokens");
  REQUIRE(tokens != nullptr);
  CHECK(tokens->max() == 1033.79);
  const Series* group = state.find_raw("performance/tokens_per_sec");
  REQUIRE(group != nullptr);
  CHECK(group->last() == 8263.34);
}

TEST_CASE("decimal commas, of a program in another locale") {
  std::string text;
  for (int step = 1; step <= 4; ++step) text += cat("step=", step, " reward=0,9", step, "5 loss=1,25", step, "\n");
  const State state = state_of(text);
  CHECK(values_of(state, "reward.mean") == std::vector<double>{0.915, 0.925, 0.935, 0.945});
  CHECK(values_of(state, "loss.total") == std::vector<double>{1.251, 1.252, 1.253, 1.254});
  const State unsure = state_of("step=1 reward=1,204 kl=0\nstep=2 reward=1,305 kl=0\n");
  CHECK(values_of(unsure, "reward.mean").empty());
}

TEST_CASE("lines of single environments between the trainer's own are neither its steps nor its rewards") {
  const std::string_view others[] = {"[env 3] step 15/50 reward 0.0 action 3", "agent step 23 reward=0.0 done=False",
                                     "turn 1: reward 0.0 tool=search",
                                     "[task 12] Step 1/30 - reward: 0.00 - done: False"};
  for (const std::string_view other : others) {
    CAPTURE(other);
    std::string text;
    for (int step = 1; step <= 4; ++step) {
      text += cat(other, "\n", other, "\ntrainer step ", step, "/200 reward=0.", step, " loss=0.5 kl=0.25\n");
    }
    const State state = state_of(text);
    CHECK(values_of(state, "reward.mean") == std::vector<double>{0.1, 0.2, 0.3, 0.4});
    CHECK(state.steps().last == 4);
    CHECK(state.total_steps == 200);
  }
}

TEST_CASE("a log that begins with its settings as JSON over several lines, or with a conversation") {
  const std::string settings = "{\n  \"model\": \"m\",\n  \"steps\": 300\n}\n";
  const std::string message = "{\"role\": \"assistant\", \"content\": \"It is 42.\"}\n";
  for (const std::string& before : {settings, message, message + settings}) {
    CAPTURE(before);
    const State state = state_of(cat(before, "step 1 reward=0.5 loss=0.1\n", message, "step 2 reward=0.25 loss=0.1\n"));
    CHECK(values_of(state, "reward.mean") == std::vector<double>{0.5, 0.25});
    CHECK(state.steps().last == 2);
  }
}

TEST_CASE("the numbered steps of a script before the training are no attempt of it") {
  std::string text = "Step 1/4: preparing data\nStep 2/4: loading the model\nStep 3/4: warming up the engine\n";
  text += "Step 4/4: training\n";
  for (int step = 1; step <= 20; ++step) text += cat("step ", step, "/20 reward=0.", 20 + step, " loss=0.5 kl=0.25\n");
  const State state = state_of(text);
  CHECK(state.attempts.size() == 1);
  CHECK(state.steps().last == 20);
  // What begins anew behind figures does.
  CHECK(state_of(text + text).attempts.size() == 2);
}

TEST_CASE("steps that begin again below the heading of each epoch are of one attempt") {
  std::string text;
  for (int epoch = 1; epoch <= 4; ++epoch) {
    text += cat("===== Epoch ", epoch, " =====\n");
    for (int step = 1; step <= 20; ++step)
      text += cat("step ", step, "/20 reward 0.", 20 * epoch + step, " loss 0.5 kl 0.25\n");
  }
  const State state = state_of(text);
  CHECK(state.attempts.size() == 1);
  CHECK(state.steps().last == 80);
}

TEST_CASE("the step of the optimizer, however it is printed") {
  const auto last_of = [](const auto& line) {
    std::string text;
    for (int step = 1; step <= 40; ++step)
      text += cat(line(step), " loss=0.4", step % 7, " reward=0.2", step % 9, "\n");
    const State state = state_of(text);
    CHECK(state.attempts.size() == 1);
    return state.steps().last;
  };
  CHECK(last_of([](int step) { return cat("Iter ", (step - 1) % 10 + 1, "/10 (global ", step, ")"); }) == 40);
  CHECK(last_of([](int step) { return cat("step ", step / 10, ".", step % 10, "0e+04"); }) == 40000);
  CHECK(last_of([](int step) { return cat("step ", step, "e3"); }) == 40000);
  CHECK(last_of([](int step) { return cat("micro_step ", step * 4, " optimizer_step ", step); }) == 40);
}

TEST_CASE("how many points of each figure there are is no record") {
  std::string text;
  for (int step = 1; step <= 20; ++step)
    text += cat("step ", step, " loss=0.4", step % 7, " reward=0.2", step % 9, "\n");
  const State state = state_of(text + "[plots] points of each series: {'step': 731, 'loss': 731, 'reward': 731}\n");
  CHECK(state.steps().last == 20);
  CHECK(state.attempts.size() == 1);
}

TEST_CASE("arms that take turns in a log that is being written: the first is followed") {
  std::string text;
  for (int step = 1; step <= 60; ++step) {
    if (step <= 30) text += cat("[high] step ", step, "/60 reward=0.8", step % 7, " loss=0.4", step % 9, "\n");
    text += cat("[low] step ", step, "/60 reward=0.1", step % 7, " loss=0.4", step % 9, "\n");
  }
  const State state = state_of(text);
  const std::vector<double> rewards = values_of(state, "reward.mean");
  CHECK(rewards.size() == 30);
  CHECK(std::all_of(rewards.begin(), rewards.end(), [](double value) { return value > 0.5; }));
}

TEST_CASE("figures above the line that says which step is done are of that step") {
  const auto onset = [](const std::function<std::string(int, const std::string&)>& step) {
    std::string log = "using device cuda:0\n";
    for (int i = 1; i <= 30; ++i) {
      log += step(i, cat("loss: ", i < 20 ? cat("0.", 300 - 3 * i + i * 7 % 5) : std::string("nan"), " reward: 0.",
                         200 + 5 * i, " kl: 0.01 grad_norm: 0.4\n"));
    }
    const State state = state_of(log);
    const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                    [](const Incident& incident) { return incident.kind == "non-finite"; });
    return found == state.incidents.end() ? kNoStep : found->onset.step;
  };
  CHECK(onset([](int i, const std::string& figures) { return cat(figures, "step ", i, " done\n"); }) == 20);
  CHECK(onset([](int i, const std::string& figures) { return cat(figures, "Completed step ", i, "\n"); }) == 20);
  // Below it, where the first one says nothing of what stands above; and where a line says which step begins.
  CHECK(onset([](int i, const std::string& figures) { return cat("step ", i, " done\n", figures); }) == 20);
  CHECK(onset([](int i, const std::string& figures) { return cat("Step ", i, "\n", figures); }) == 20);
  CHECK(onset([](int i, const std::string& figures) {
          return cat("Starting step ", i, "\n", figures, "step ", i, " done\n");
        }) == 20);
}

TEST_CASE("a record with an error in place of its figures, and a run that goes on") {
  const auto read = [](std::string_view error) {
    std::string text;
    for (int step = 0; step < 30; ++step) {
      const std::string figures = cat("\"loss\": 0.", 90 - step, ", \"reward\": 0.", 10 + step);
      text += cat("{\"step\": ", step, ", ", step == 16 ? std::string(error) : figures, "}\n");
    }
    return state_of(text, "metrics.jsonl");
  };
  const State state = read(R"x("error": "OutOfMemoryError('CUDA out of memory. Tried to allocate 594.00 MiB.')")x");
  const SignatureState* const seen = state.signature("cuda-oom-trainer");
  REQUIRE(seen != nullptr);
  REQUIRE(seen->matches.size() == 1);
  CHECK(seen->matches.front().moment.step == 16);
  CHECK(state.steps().last == 29);
  for (const char* const status : {"", R"("status": "failed", )"}) {  // caught, though no text comes after it
    const State caught = read(cat(status, R"x("error": "TimeoutError: the judge did not answer")x"));
    CHECK(std::none_of(caught.incidents.begin(), caught.incidents.end(),
                       [](const Incident& one) { return one.severity == Severity::kCritical; }));
  }
  // Of one of the answers that a figure is made of.
  const State sample = read(R"x("reward": 0.5, "error": "OutOfMemoryError('CUDA out of memory.')")x");
  CHECK(sample.signature("cuda-oom-trainer") == nullptr);
}

}  // namespace
}  // namespace mw
