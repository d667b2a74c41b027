#include "ui/view/run_record.h"

#include <doctest/doctest.h>

#include "ui/testing/fake_run.h"
#include "ui/view/record_json.h"
#include "ui/view/run_filter.h"
#include "ui/view/wandb_page.h"

namespace mw {
namespace {

Time at(int64_t second) { return {1'770'000'000'000'000'000 + second * 1'000'000'000}; }

FakeRun recorded() {
  FakeRun run;
  run.state.framework = "prime-rl";
  run.say(event::Configured{"zeta", "1"});
  run.say(event::Configured{"model", "Qwen/Qwen3-8B"});
  run.say(event::Configured{"lr", "1e-5"});
  run.say(event::Configured{"summary/reward", "0.3"});
  for (int64_t step = 1; step <= 9; ++step) {
    run.at = at(step * 60);
    run.measure(step, step == 6 ? 0.9 : 0.1 * static_cast<double>(step));
    run.measure(step, 1.0 / static_cast<double>(step), "entropy", "entropy");
  }
  run.say(event::CheckpointSaved{5, "/ck/step_5", true});
  run.incident("reward-collapse", Severity::kCritical, 8, "The reward fell", "reward 0.0");
  run.at = at(900'000);  // a person, days later
  run.say(event::Requested{"tag", "mira"});
  run.say(event::Note{"mira", "ablation"});
  run.state.verdict = "crashed";
  return run;
}

RunsAnswer::Run answer_of(const RunRecord& record) {
  RunsAnswer::Run run;
  run.status.name = "20260219-train";
  run.record = record;
  return run;
}

TEST_CASE("the record of a run has what people ask for first, and its best figures with their steps") {
  const RunRecord record = record_of(recorded().state);
  REQUIRE(record.settings.size() == 3);
  CHECK(record.settings.front() == std::pair<std::string, std::string>{"model", "Qwen/Qwen3-8B"});
  CHECK(record.settings.back().first == "zeta");
  const RunRecord::Figure* reward = figure_of(record, "reward.mean");
  REQUIRE(reward != nullptr);
  CHECK(reward->rated);
  CHECK(reward->best == doctest::Approx(0.9));
  CHECK(reward->best_step == 6);
  CHECK(reward->last_step == 9);
  CHECK_FALSE(figure_of(record, "entropy")->rated);
  REQUIRE(record.incidents.size() == 1);
  CHECK(record.incidents[0].outcome == "open");
  CHECK(record.critical == 1);
  CHECK(record.seconds == doctest::Approx(9 * 60 - 60));
  CHECK(record.ended == at(540));
  CHECK(record.checkpoints.size() == 1);
  CHECK(record.tags == std::vector<std::string>{"ablation"});
}

TEST_CASE("a record comes back from JSON as it was") {
  RunRecord record = record_of(recorded().state);
  record.machines.push_back({"node7", "2 x H100", 1, 3});
  record.changes.push_back({2, "package", "vllm", "0.8", "0.9"});
  record.command = {"bash", kHostile};
  record.cost_per_hour = 5.73;
  const std::string text = record_json(record);
  const auto back = parse_record(text);
  REQUIRE(back.ok());
  CHECK(record_json(*back) == text);
  CHECK(back->machines[0].last == 3);
  CHECK(back->figures[0].best_step == 6);
  CHECK_FALSE(parse_record("{}").ok());
  CHECK_FALSE(parse_record(text.substr(0, text.size() / 2)).ok());
}

TEST_CASE("runs are found by framework, model, status, incident, tag, date and words, and by all of them together") {
  const RunsAnswer::Run run = answer_of(record_of(recorded().state));
  const auto found = [&](auto change) {
    RunFilter filter;
    change(filter);
    return passes(filter, run);
  };
  CHECK(found([](RunFilter&) {}));
  CHECK(found([](RunFilter& f) { f.framework = "Prime-RL"; }));
  CHECK_FALSE(found([](RunFilter& f) { f.framework = "verl"; }));
  CHECK(found([](RunFilter& f) { f.model = "qwen"; }));
  CHECK_FALSE(found([](RunFilter& f) { f.model = "llama"; }));
  CHECK(found([](RunFilter& f) { f.status = "failed"; }));
  CHECK(found([](RunFilter& f) { f.status = "crashed"; }));
  CHECK_FALSE(found([](RunFilter& f) { f.status = "finished"; }));
  CHECK(found([](RunFilter& f) { f.incident = "reward-collapse"; }));
  CHECK_FALSE(found([](RunFilter& f) { f.incident = "engine-dead"; }));
  CHECK(found([](RunFilter& f) { f.tags = {"Ablation"}; }));
  CHECK_FALSE(found([](RunFilter& f) { f.tags = {"ablation", "h100"}; }));
  CHECK_FALSE(found([](RunFilter& f) { f.tags = {"abl"}; }));
  CHECK(found([](RunFilter& f) { f.since = at(60); }));
  CHECK_FALSE(found([](RunFilter& f) { f.since = at(61); }));
  CHECK(found([](RunFilter& f) { f.words = {"1E-5", "fell"}; }));
  CHECK_FALSE(found([](RunFilter& f) { f.words = {"1e-5", "rose"}; }));
  CHECK_FALSE(found([](RunFilter& f) {
    f.model = "qwen";
    f.status = "finished";
  }));
}

TEST_CASE("what differs between two runs is each setting that is other, new or gone") {
  RunRecord before, after;
  before.settings = {{"lr", "1e-6"}, {"model", "a"}, {"old", "1"}};
  after.settings = {{"lr", "2e-6"}, {"model", "a"}, {"new", "2"}};
  const auto changes = different_settings(before, after);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "lr");
  CHECK(changes[0].before == "1e-6");
  CHECK(changes[1].before.empty());
  CHECK(changes[2].after.empty());
}

TEST_CASE("the page of a run at W&B is what its log says, or its file, and never anything but a plain address") {
  FakeRun run;
  CHECK(wandb_page(run.state).empty());
  run.say(event::Configured{"run/entity", "team"}).say(event::Configured{"run/project", "p"});
  CHECK(wandb_page(run.state).empty());
  run.say(event::Configured{"run/id", "ab12"});
  CHECK(wandb_page(run.state) == "https://wandb.ai/team/p/runs/ab12");
  run.say(event::Configured{"wandb_page", "https://wandb.example.org/t/p/runs/x"});
  CHECK(wandb_page(run.state) == "https://wandb.example.org/t/p/runs/x");
  run.say(event::Configured{"wandb_page", "https://x/><script>"});
  CHECK(wandb_page(run.state).empty());
}

}  // namespace
}  // namespace mw
