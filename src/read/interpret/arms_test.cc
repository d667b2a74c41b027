#include "read/interpret/arms.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "read/interpret/arm_name.h"

namespace mw {
namespace {

std::string arm_in(std::string_view line) {
  std::string out;
  arm_of_line(line, out);
  return out;
}
std::string heading_in(std::string_view line) {
  std::string out;
  arm_of_heading(line, out);
  return out;
}

using Take = Arms::Take;

/// Hands over one record of each of `names` for each step; what is found once all is read.
std::vector<std::string> found(const std::vector<std::pair<std::string, int64_t>>& records) {
  Arms arms;
  ArmChoice choice;
  arms.choose(&choice);
  double value = 0.1;
  for (const auto& [arm, step] : records) {
    value = value < 0.9 ? value + 0.037 : 0.1;
    const std::vector<RowNumber> numbers = {{"reward", value}};
    (void)arms.take(arm, step, numbers);
  }
  arms.finish();
  return choice.found;
}

TEST_CASE("a line names its arm by a word, a bracket or a column") {
  CHECK(arm_in("arm=A step=1 reward=0.2") == "arm=A");
  CHECK(arm_in("[arm B] step 1/60 reward=0.2") == "arm=B");
  CHECK(arm_in("[high] step 1/60 reward=0.2") == "[high]");
  CHECK(arm_in("seed 0 | step 1 | loss 0.5") == "seed=0");
  CHECK(arm_in("step 3 method: grpo seed=2 loss 0.5") == "method=grpo seed=2");
  CHECK(arm_in("step 3 lr=1e-5 loss 0.5") == "lr=1e-5");
  CHECK(arm_in("task=math step 3 reward 0.5") == "task=math");
  CHECK(arm_in("[env 3] step 15/50 reward 0.0") == "");
  CHECK(arm_in("task=17 step 3 reward 0.5") == "");
  CHECK(arm_in("step 3 loss 0.5") == "");
  for (const std::string_view part : {"[rank0] step 1", "[trainer] step 1", "[Actor] step 1", "[12/100] loss=0.5",
                                      "[INFO] step 1", "[step 3] loss=0.5"}) {
    CHECK_MESSAGE(arm_in(part) == "", part);
  }
}

TEST_CASE("each word for an arm or a run is found, in either case") {
  for (const std::string_view key :
       {"arm",      "method",    "variant",    "seed",  "condition", "config",          "config_name", "setting",
        "ablation", "treatment", "strategy",   "algo",  "algorithm", "optimizer",       "task",        "env",
        "env_name", "domain",    "lora_rank",  "run",   "run_id",    "run_name",        "run_label",   "exp",
        "exp_name", "exp_id",    "experiment", "trial", "trial_id",  "experiment_name", "job",         "job_name"}) {
    CHECK(arm_in(cat("step 3 ", key, "=b loss 0.5")) == cat(key, "=b"));
    std::string big(key);
    for (char& c : big) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    CHECK(arm_in(cat("step 3 ", big, "=b loss 0.5")) == cat(key, "=b"));
    CHECK(arm_in(cat("step 3 ", key, "x=b loss 0.5")) == "");
  }
}

TEST_CASE("a heading names an arm and nothing else") {
  CHECK(heading_in("=== arm C ===") == "arm=C");
  CHECK(heading_in("seed 0") == "seed=0");
  CHECK(heading_in("--- Running method: grpo (2/3) ---") == "method=grpo");
  CHECK(heading_in("seed everything before the model is made") == "");
  CHECK(heading_in("=== Training begins ===") == "");
}

TEST_CASE("arms that take turns, and arms one after the other") {
  std::vector<std::pair<std::string, int64_t>> turns, after;
  for (int64_t step = 1; step <= 10; ++step) {
    for (const char* arm : {"arm=A", "arm=B"}) turns.emplace_back(arm, step);
  }
  for (const char* arm : {"arm=A", "arm=B"}) {
    for (int64_t step = 1; step <= 10; ++step) after.emplace_back(arm, step);
  }
  CHECK(found(turns) == std::vector<std::string>{"arm=A", "arm=B"});
  CHECK(found(after) == std::vector<std::string>{"arm=A", "arm=B"});
}

TEST_CASE("another start or stage of one training, a sampled task and samples of one step are no arms") {
  std::vector<std::pair<std::string, int64_t>> resumed, restarted, tasks, samples;
  for (int64_t step = 1; step <= 20; ++step) {
    resumed.emplace_back("run_id=a1", step);
    restarted.emplace_back("run_id=a1", step);
    tasks.emplace_back(step % 3 == 0 ? "task=math" : "task=code", step);
    for (const char* task : {"task=math", "task=math", "task=code", "task=code"}) samples.emplace_back(task, step);
  }
  for (int64_t step = 18; step <= 40; ++step) resumed.emplace_back("run_id=b2", step);
  std::vector<std::pair<std::string, int64_t>> stages;
  for (const char* stage : {"[sft]", "[grpo]"}) {
    for (int64_t step = 1; step <= 20; ++step) stages.emplace_back(stage, step);
  }
  CHECK(found(stages).empty());
  for (int64_t step = 1; step <= 20; ++step) restarted.emplace_back("run_id=b2", step);
  CHECK(found(resumed).empty());
  CHECK(found(restarted).empty());
  CHECK(found(tasks).empty());
  CHECK(found(samples).empty());
}

TEST_CASE("where arms take turns, the one that writes first is followed to its end") {
  Arms arms;
  int taken = 0, others = 0;
  for (int64_t step = 1; step <= 40; ++step) {
    for (const char* arm : {"arm=A", "arm=B"}) {
      if (std::string_view(arm) == "arm=A" && step > 20) continue;
      const std::vector<RowNumber> numbers = {{"reward", 0.25 + 0.5 * (arm[4] == 'A' ? 1 : 0)}};
      const Take take = arms.take(arm, step, numbers);
      taken += take == Take::kTake ? 1 : 0;
      others += take == Take::kTake && std::string_view(arm) == "arm=B" ? 1 : 0;
    }
  }
  CHECK(taken == 20);
  CHECK(others == 0);
}

}  // namespace
}  // namespace mw
