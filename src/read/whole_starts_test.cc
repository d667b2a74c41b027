// What a whole log comes to that several starts of a program were written to, and one whose program failed when its
// training was over.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

const std::string kHead =
    "using device cuda:0\n"
    "loading the policy from /srv/models/p-7b\n"
    "prompts: 4096\n";

std::string fails(const std::string& exception) {
  return cat("Traceback (most recent call last):\n  File \"/srv/x/train.py\", line 40, in main\n    out = f(x)\n",
             exception, "\n");
}

std::string steps(int first, int last) {
  std::string log;
  for (int i = first; i <= last; ++i)
    log += cat("step ", i, " | reward 0.", 200 + 5 * i + i * 7 % 13, " | kl 0.011 | loss 0.0012 | grad_norm 0.4\n");
  return log;
}

const Incident* of_kind(const State& state, std::string_view kind) {
  const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                  [kind](const Incident& incident) { return incident.kind == kind; });
  return found == state.incidents.end() ? nullptr : &*found;
}

TEST_CASE("a start that failed before any step is an attempt where the log begins again") {
  const State state =
      state_of(kHead + fails("KeyError: 'reward_key'") + kHead + fails("ModuleNotFoundError: No module named 'abc'"));
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[1].began.where.line == 8);
  CHECK(state.verdict == "crashed");
  REQUIRE(of_kind(state, "code-error") != nullptr);
  REQUIRE(of_kind(state, "dependency-broken") != nullptr);
  CHECK(of_kind(state, "code-error")->latest.attempt == 0);
  CHECK(of_kind(state, "dependency-broken")->latest.attempt == 1);
}

TEST_CASE("a warning of Python's right behind a traceback is the first line of the next start") {
  const std::string head = "/srv/x/a.py:12: FutureWarning: old\n  warnings.warn(text)\nloading the policy\n";
  const State state =
      state_of(head + fails("KeyError: 'k'") + head + fails("ModuleNotFoundError: No module named 'b'"));
  CHECK(state.attempts.size() == 2);
  REQUIRE(of_kind(state, "code-error") != nullptr);
  CHECK_FALSE(contains(of_kind(state, "code-error")->summary, "warnings.warn"));
}

TEST_CASE("a job that was cancelled is an attempt of its own, too") {
  const State state =
      state_of(kHead + fails("KeyError: 'reward_key'") + kHead + steps(1, 12) +
               "slurmstepd: error: *** JOB 41 ON n7 CANCELLED AT 2026-03-01T10:00:20 ***\n" + kHead + steps(1, 20));
  CHECK(state.attempts.size() == 3);
  REQUIRE(of_kind(state, "interrupted") != nullptr);
  CHECK(of_kind(state, "interrupted")->latest.attempt == 1);
}

TEST_CASE("an exception that the program goes on after begins no attempt") {
  // Nothing comes again.
  CHECK(state_of(kHead + fails("KeyError: 'x'") + steps(1, 20)).attempts.size() == 1);
  // A worker was made again, and the steps go on.
  CHECK(state_of(kHead + steps(1, 12) + fails("KeyError: 'x'") + kHead + steps(13, 30)).attempts.size() == 1);
  // Each rank says them.
  CHECK(state_of(kHead + kHead + fails("KeyError: 'x'") + kHead + steps(1, 9)).attempts.size() == 1);
  // The keeper says when an attempt begins; what is printed twice says nothing.
  CHECK(state_of(kHead + steps(1, 9) + kHead + steps(10, 20)).attempts.size() == 1);
}

const std::string kOver = "Training complete!\n";

TEST_CASE("what fails when the training was over is a warning, and the run is finished") {
  const std::string error = "AttributeError: 'Run' object has no attribute 'history'";
  for (const std::string& word : {kOver, std::string("{'train_runtime': 812.4, 'train_steps_per_second': 0.2, "
                                                     "'train_loss': 0.41, 'epoch': 1.0}\n")}) {
    const State state = state_of(kHead + steps(1, 40) + word + "plotting\n" + fails(error));
    CAPTURE(word);
    CHECK(state.verdict != "crashed");
    REQUIRE(of_kind(state, "code-error") != nullptr);
    CHECK(of_kind(state, "code-error")->severity == Severity::kWarning);
    CHECK(contains(of_kind(state, "code-error")->summary, "no attribute 'history'"));
    CHECK(contains(of_kind(state, "code-error")->summary, "after the training was complete"));
  }
  const State pushed = state_of(kHead + steps(1, 40) + kOver + fails("RuntimeError: the upload was refused"));
  CHECK(pushed.verdict != "crashed");
  REQUIRE(of_kind(pushed, "crash") != nullptr);
  CHECK(of_kind(pushed, "crash")->severity == Severity::kWarning);
}

TEST_CASE("a training that only says so, or loses its result, has crashed") {
  const std::string error = fails("KeyError: 'history'");
  // Its plan was open.
  CHECK(state_of(kHead + "total steps: 400\n" + steps(1, 40) + "100%|##| 40/400 [00:40<06:00, 1.0s/it]\n" + error)
            .verdict == "crashed");
  // Not its training is over.
  CHECK(state_of(kHead + steps(1, 40) + "Training epoch 1 complete\n" + error).verdict == "crashed");
  // Steps came after the word.
  CHECK(state_of(kHead + steps(1, 20) + kOver + steps(21, 40) + error).verdict == "crashed");
  // The model was being saved, by its word or by the frame.
  CHECK(state_of(kHead + steps(1, 40) + kOver + "Saving final model to out/final\n" + error).verdict == "crashed");
  CHECK(state_of(kHead + steps(1, 40) + kOver +
                 "Traceback (most recent call last):\n  File \"/srv/x/train.py\", line 40, in main\n    save(m)\n"
                 "  File \"/srv/x/io.py\", line 9, in save_model\n    f(m)\nKeyError: 'config'\n")
            .verdict == "crashed");
  // The disk, not the program.
  CHECK(state_of(kHead + steps(1, 40) + kOver + fails("OSError: [Errno 28] No space left on device")).verdict ==
        "crashed");
}

/// A notebook of cells that failed of these exceptions, as Jupyter saves it.
std::string notebook(std::initializer_list<std::string_view> exceptions) {
  std::string cells;
  int number = 0;
  for (const std::string_view exception : exceptions) {
    const std::string_view name = exception.substr(0, exception.find(':'));
    cells +=
        cat(cells.empty() ? "" : ",\n", "  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n",
            "     \"ename\": \"", name, "\",\n     \"output_type\": \"error\",\n     \"traceback\": [\n      \"", name,
            "  Traceback (most recent call last)\",\n      \"Cell In[", ++number,
            "], line 2\\n      1 x\\n----> 2 trainer.train()\\n\",\n"
            "      \"File /v/site-packages/trl/trainer.py:7, in train(self)\\n      6 x\\n----> 7 f()\\n\",\n      \"",
            exception, "\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"from trl import GRPOTrainer\\n\"\n   ]\n  }");
  }
  return cat("{\n \"cells\": [\n", cells, "\n ],\n \"nbformat\": 4\n}\n");
}

TEST_CASE("cells of a notebook that fail of different things are different failures, and the last one is its end") {
  const State state =
      state_of(notebook({"KeyboardInterrupt: ", "ImportError: cannot import name 'x' from 'trl'"}), "train.ipynb");
  CHECK(state.verdict == "crashed");
  REQUIRE(of_kind(state, "interrupted") != nullptr);
  REQUIRE(of_kind(state, "dependency-broken") != nullptr);
  CHECK(of_kind(state, "dependency-broken")->severity == Severity::kCritical);
  const State mended =
      state_of(notebook({"ModuleNotFoundError: No module named 'abc'", "KeyError: 'reward'"}), "train.ipynb");
  REQUIRE(of_kind(mended, "dependency-broken") != nullptr);
  CHECK(of_kind(mended, "dependency-broken")->severity == Severity::kWarning);
  REQUIRE(of_kind(mended, "code-error") != nullptr);
  CHECK(of_kind(mended, "code-error")->severity == Severity::kCritical);
  // What a failed cell was to define.
  const State echo =
      state_of(notebook({"RuntimeError: no such device", "NameError: name 'trainer' is not defined"}), "train.ipynb");
  CHECK(of_kind(echo, "code-error") == nullptr);
  // The same again is one failure.
  CHECK(state_of(notebook({"KeyError: 'reward'", "KeyError: 'reward'"}), "train.ipynb").incidents.size() == 1);
  CHECK(state_of(notebook({"KeyError: 'reward'", "KeyboardInterrupt: "}), "train.ipynb").verdict == "interrupted");
}

TEST_CASE("an exception that two processes print at once is one") {
  const State state = state_of(kHead + fails("KeyErrorKeyError: : 'reward''reward'"));
  REQUIRE(of_kind(state, "code-error") != nullptr);
  CHECK(contains(of_kind(state, "code-error")->summary, "KeyError ended the run: 'reward' "));
}

TEST_CASE("an exception in what prints exceptions is not what failed") {
  const std::string log =
      kHead + "Traceback (most recent call last):\n  File \"/srv/x/train.py\", line 40, in main\n    out = f(x)\n" +
      "KeyError: 'reward'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
      "Traceback (most recent call last):\n  File \"/v/site-packages/IPython/core/ultratb.py\", line 9, in lines\n" +
      "    return self._sd.lines\n  File \"/v/site-packages/stack_data/core.py\", line 4, in pieces\n    raise E(x)\n" +
      "AssertionError: pieces do not fit\n";
  const State state = state_of(log);
  REQUIRE(of_kind(state, "code-error") != nullptr);
  CHECK(contains(of_kind(state, "code-error")->summary, "KeyError"));
}

/// A start that names its environment, at `minute`, and what it says after that.
std::string logged_start(int minute, const std::string& said) {
  std::string log;
  for (const char* line : {"=======", "ENVIRONMENT", "=======", "Python: 3.11.2", "PyTorch: 2.5.1", "CUDA: 12.4",
                           "GPU count: 1", "peft: 0.13.0", "[1/3] Loading the tokenizer", "tokenizer has 4096 words"}) {
    log += cat("2026-01-15 08:", minute, ":00 | INFO | __main__ | ", line, "\n");
  }
  return log + cat("2026-01-15 08:", minute, ":09 | INFO | __main__ | ", said, "\n");
}

TEST_CASE("starts that end behind work which they had announced came to nothing") {
  const std::string loading = "[2/3] Loading the model...";
  const State state = state_of(logged_start(10, loading) + logged_start(20, loading) + logged_start(30, loading) +
                               logged_start(40, loading));
  CHECK(state.attempts.size() == 4);
  REQUIRE(of_kind(state, "crash") != nullptr);
  CHECK(of_kind(state, "crash")->severity == Severity::kCritical);
}

TEST_CASE("starts that fail with an exception are counted once") {
  const std::string start = "[2/3] Loading the model...", failure = fails("KeyError: 'reward_key'");
  const State state = state_of(logged_start(10, start) + failure + logged_start(20, start) + failure +
                               logged_start(30, start) + failure);
  CHECK(state.attempts.size() == 3);
}

TEST_CASE("starts that failed of different things did not come to the same end") {
  const State state =
      state_of(kHead + fails("KeyError: 'reward_key'") + kHead + fails("ModuleNotFoundError: No module named 'abc'") +
               kHead + fails("ValueError: batch is empty") + kHead + fails("KeyError: 'reward_key'"));
  const auto loop = std::find_if(state.incidents.begin(), state.incidents.end(),
                                 [](const Incident& one) { return contains(one.summary, "in a row"); });
  REQUIRE(loop != state.incidents.end());
  CHECK(contains(loop->summary, "came to nothing, of several failures"));
}

TEST_CASE("the key that the terminal shows before a traceback says how the run was stopped") {
  const State state = state_of(kHead + steps(1, 12) +
                               "^CTraceback (most recent call last):\n  File \"/srv/x/train.py\", line 40, in main\n" +
                               "    out = f(x)\nKeyboardInterrupt\n");
  REQUIRE(of_kind(state, "interrupted") != nullptr);
  CHECK(of_kind(state, "interrupted")->summary == "The run was stopped from outside: Ctrl-C");
}

TEST_CASE("programs that one log holds one after the other, each of which says what it did, came to an end") {
  const std::string done = "[3/3] results are in out.json";
  const State state =
      state_of(logged_start(10, done) + logged_start(20, done) + logged_start(30, done) + logged_start(40, done));
  CHECK(state.attempts.size() <= 1);
  CHECK(state.incidents.empty());
}

TEST_CASE("a model's path that the Hub does not have either is a path that is wrong, and no login") {
  const auto log = [](const std::string& name) {
    return "Traceback (most recent call last):\n"
           "  File \"/opt/py/huggingface_hub/utils/_http.py\", line 402, in hf_raise_for_status\n"
           "    response.raise_for_status()\n"
           "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://huggingface.co/api/x\n\n"
           "The above exception was the direct cause of the following exception:\n\n"
           "Traceback (most recent call last):\n"
           "  File \"/opt/py/transformers/utils/hub.py\", line 470, in cached_files\n"
           "    hf_hub_download(name)\n"
           "huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. (Request ID: Root=1-2)\n\n"
           "Repository Not Found for url: https://huggingface.co/api/x.\n\n"
           "The above exception was the direct cause of the following exception:\n\n"
           "Traceback (most recent call last):\n"
           "  File \"/srv/x/train.py\", line 40, in main\n"
           "    model = load(name)\n"
           "OSError: " +
           name +
           " is not a local folder and is not a valid model identifier listed on "
           "'https://huggingface.co/models'\n";
  };
  const State path = state_of(log("output/tiny-sft-12")), name = state_of(log("acme/tiny-sft"));
  REQUIRE(of_kind(path, "config-error") != nullptr);
  CHECK(of_kind(path, "config-error")->causes.front().id == "model-path-missing");
  CHECK(of_kind(path, "credentials") == nullptr);
  CHECK(of_kind(name, "credentials") != nullptr);
}

/// A start of transformers' Trainer: its bar at 0, then from the step on that it resumed at.
std::string trainer(int first, int last, int plan = 200) {
  std::string log = "Loading checkpoint shards: 100%|##########| 4/4 [00:05<00:00,  1.40s/it]\n";
  log += cat("  0%|          | 0/", plan, " [00:00<?, ?it/s]\n");
  for (int i = first; i <= last; ++i) {
    const int done = i - first + 1;
    log += cat(" 10%|#         | ", i, "/", plan, " [", done / 60, ":", done % 60 < 10 ? "0" : "", done % 60,
               ":00<9:00:00, 60.00s/it]\n");
    log += cat("{'loss': '0.0", 100 + i * 7 % 13, "', 'grad_norm': '0.4', 'learning_rate': '1e-06', 'reward': '0.",
               300 + i, "', 'reward_std': '0.3', 'kl': '0.001', 'epoch': '", i / 100, ".", i % 100 + 100, "'}\n");
    if (i % 10 == 0) log += cat("Saving model checkpoint to out/checkpoint-", i, "\n");
  }
  return log;
}

TEST_CASE("each start of a trainer into one log is an attempt, wherever it goes on") {
  const std::string fault = fails("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB.");
  const State after_save = state_of(trainer(1, 30) + fault + trainer(31, 60));
  REQUIRE(after_save.attempts.size() == 2);
  CHECK(after_save.attempts[0].last_step == 30);
  CHECK(after_save.attempts[1].first_step == 31);
  CHECK(after_save.attempts[1].last_step == 60);
  const State near = state_of(trainer(1, 27) + fault + trainer(21, 35) + fault + trainer(31, 60));
  REQUIRE(near.attempts.size() == 3);
  CHECK(near.attempts[1].last_step == 35);
  CHECK(near.attempts[2].first_step == 31);
  const State same =
      state_of(trainer(1, 25) + fault + trainer(21, 25) + fault + trainer(21, 25) + fault + trainer(21, 60));
  CHECK(same.attempts.size() == 4);
  const State barren =
      state_of(trainer(1, 25) + fault + trainer(21, 20) + fault + trainer(21, 20) + fault + trainer(21, 60));
  CHECK(barren.attempts.size() == 4);
  // One that says nothing of its end.
  CHECK(state_of(trainer(1, 33) + trainer(31, 60)).attempts.size() == 2);
}

TEST_CASE("a training of fewer steps than the one before it in the log is another attempt") {
  const std::string fault = fails("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB.");
  const std::string done = "{'train_runtime': '600', 'train_steps_per_second': '0.5', 'train_loss': '1.2'}\n";
  // It was done, or stopped early, or died; the next one begins, or goes on from a save.
  for (const std::string& first :
       {trainer(1, 300, 300) + done, trainer(1, 145, 300) + done, trainer(1, 145, 300) + fault, trainer(1, 145, 300)}) {
    for (const int from : {1, 141}) {
      const State state = state_of(first + trainer(from, 180, 180));
      REQUIRE(state.attempts.size() == 2);
      CHECK(state.attempts[0].total_steps == 300);
      CHECK(state.attempts[1].first_step == from);
      CHECK(state.attempts[1].last_step == 180);
      CHECK(state.total_steps == 180);
    }
  }
  // What is drawn in between is no step: the bar goes on where it stood.
  std::string sparse = "  0%|          | 0/180 [00:00<?, ?it/s]\n";
  for (int i = 1; i <= 180; ++i) {
    sparse += cat(" 10%|#         | ", i, "/180 [", i, ":00<9:00:00, 60.00s/it]\n");
    if (i % 20 == 0)
      sparse +=
          cat("{'loss': '0.01', 'learning_rate': '1e-06', 'reward': '0.", 300 + i, "', 'epoch': '0.0", 100 + i, "'}\n");
  }
  const State every20 = state_of(trainer(1, 145, 300) + fault + sparse);
  REQUIRE(every20.attempts.size() == 2);
  CHECK(every20.attempts[1].first_step == 20);
  CHECK(every20.attempts[1].last_step == 180);
  // Records that were held in a buffer come behind some steps of the bar.
  std::string held, bars;
  const std::string second = trainer(1, 60, 180);  // which the lines point into
  for (const std::string_view line : split(second, '\n')) (line.starts_with("{") ? held : bars) += cat(line, "\n");
  const State buffered = state_of(trainer(1, 300, 300) + done + bars + held + trainer(61, 180, 180));
  REQUIRE(buffered.attempts.size() >= 2);
  CHECK(buffered.attempts[0].last_step == 300);
}

TEST_CASE("the bar of an evaluation of fewer batches than there are steps is no training") {
  std::string batches = "  0%|          | 0/40 [00:00<?, ?it/s]\n";
  for (int i = 2; i <= 40; i += 2) batches += cat(" 10%|#         | ", i, "/40 [00:", 10 + i, "<03:00,  1.00s/it]\n");
  const std::string judged = "{'eval_loss': '1.2', 'eval_runtime': '30.1', 'epoch': '1.2'}\n";
  const State between = state_of(trainer(1, 100) + batches + judged + trainer(101, 200).substr(150));
  CHECK(between.attempts.size() == 1);
  CHECK(between.total_steps == 200);
  // The last records of the training come out of a buffer when the evaluation is over, or is broken off.
  const std::string log = trainer(1, 200), last = log.substr(log.rfind("{'loss'"));
  const std::string before = log.substr(0, log.rfind("{'loss'"));
  CHECK(state_of(before + batches + last + judged).attempts.size() == 1);
  CHECK(state_of(before + batches.substr(0, batches.size() / 2) + last).attempts.size() == 1);
}

TEST_CASE("a start that says so and has a failure of its own before its bar is one attempt") {
  const std::string banner = "=== midwatch: attempt 2 began 2026-11-29T15:21:04.752Z, process 9633 ===\n";
  const std::string import = fails("ImportError: flash_attn is not installed");
  CHECK(state_of(trainer(1, 30) + banner + import + trainer(31, 60)).attempts.size() == 2);
}

TEST_CASE("a bar of as many batches as there are steps is no start") {
  const std::string batches =
      "  0%|          | 0/200 [00:00<?, ?it/s]\n  1%|          | 2/200 [00:02<03:00,  1.00s/it]\n";
  std::string log = trainer(1, 30);
  CHECK(state_of(log + batches).attempts.size() == 1);
  CHECK(state_of(log + "Map: 100%|##########| 9/9 [00:01<00:00,  9.00it/s]\n" + batches).attempts.size() == 1);
}

/// A start of slime, which submits no Ray job of its own.
std::string slime(int first, int last, int pid) {
  const std::string rollouts = cat("(RolloutManager pid=", pid, ") [2026-11-20 "),
                    actor = cat("(MegatronTrainRayActor pid=", pid + 1, ") [2026-11-20 ");
  std::string log = cat("(RolloutManager pid=", pid, ") [2026-11-20 0", pid,
                        ":00:00] rollout.py:967 - Router launched at ", "10.0.0.1:3124, Prometheus port: 4567\n");
  for (int i = first; i <= last; ++i) {
    const std::string at = cat("0", pid, ":", 10 + i);
    log += cat(rollouts, at, ":35] rollout_metrics.py:268 - perf ", i, ": {'rollout/response_len/mean': 5", i,
               ".3, 'rollout/truncated_ratio': 0.02}\n", actor, at, ":35] train_metric_utils.py:135 - rollout ", i,
               ": {'rollout/raw_reward': 0.", 300 + i, "}\n", actor, at, ":59] model.py:918 - step ", i,
               ": {'train/loss': 0.00", i, ", 'train/grad_norm': 0.4, 'train/step': ", i, "}\n");
  }
  return log;
}

TEST_CASE("rollouts of another run among a run's own are no sign that a rollout has several steps") {
  const std::string first = slime(0, 45, 1), other = slime(0, 30, 3);
  const auto a = split(first, '\n'), b = split(other, '\n');
  std::string both;
  for (size_t i = 0; i < a.size(); i += 4) {
    for (size_t k = i; k < std::min(i + 4, a.size()); ++k) both += cat(a[k], "\n");
    for (size_t k = i < 45 ? b.size() : i - 45; k < std::min(i - 41, b.size()); ++k) both += cat(b[k], "\n");
  }
  const State state = state_of(both);
  CHECK(state.steps().last == 45);
}

TEST_CASE("each start of slime is an attempt, wherever it goes on") {
  const std::string fault = fails("torch.OutOfMemoryError: CUDA out of memory.");
  const State back = state_of(slime(0, 27, 1) + fault + slime(20, 35, 3));
  REQUIRE(back.attempts.size() == 2);
  CHECK(back.attempts[0].last_step == 27);
  CHECK(back.attempts[1].first_step == 20);  // its first rollouts are of its own steps
  CHECK(back.attempts[1].last_step == 35);
  const State next = state_of(slime(0, 27, 1) + fault + slime(28, 35, 3));
  REQUIRE(next.attempts.size() == 2);
  CHECK(next.attempts[1].first_step == 28);
  CHECK(state_of(slime(0, 27, 1) + fault + slime(0, 35, 3)).attempts.size() == 2);
  CHECK(state_of(slime(0, 27, 1) + fault + slime(28, 27, 3) + fault + slime(28, 27, 5) + fault + slime(28, 35, 7))
            .attempts.size() == 4);
}

}  // namespace
}  // namespace mw
