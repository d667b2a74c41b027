#include <doctest/doctest.h>

#include "base/text.h"
#include "ui/report/status.h"
#include "ui/testing/fake_run.h"

namespace mw {
namespace {

int run(FakeServices& services, std::vector<std::string> words) {
  words.insert(words.begin(), "midwatch");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return run_command(static_cast<int>(argv.size()), argv.data(), all_verbs(), services, Console{});
}

TEST_CASE("a run has a store when the command line says so") {
  FakeServices services(State{});
  CHECK(run(services, {"run", "--", "train"}) == 3);
  CHECK(services.ran.spec.store.empty());
  CHECK(run(services, {"run", "--store", "s3://bucket/run", "--", "train"}) == 3);
  CHECK(services.ran.spec.store == "s3://bucket/run");
  CHECK(services.ran.spec.first_step == 0);
  CHECK(run(services, {"run", "--store", "s3://bucket/run", "--reattach", "newest"}) == 2);
}

TEST_CASE("onstart runs the command from what the store holds, and ships there") {
  FakeServices services(State{});
  CHECK(run(services, {"onstart", "--", "train"}) == 2);  // from where?
  CHECK(services.ran.spec.command.empty());
  CHECK(run(services, {"onstart", "--from", "s3://bucket/run", "--dry-run", "--", "train"}) == 2);
  services.start_answer.pulled.step = 40;
  services.start_answer.root = "/ck";
  services.start_answer.words = {"--resume", "/ck/step_40"};
  services.start_answer.environment = {{"WANDB_RUN_ID", "abc"}};
  CHECK(run(services, {"onstart", "--from", "s3://bucket/run", "--", "train", "{resume}"}) == 3);
  CHECK(services.starts.store.place == "s3://bucket/run");
  CHECK(services.starts.command == std::vector<std::string>{"train", "{resume}"});
  CHECK(services.starts.folder.empty());
  const RunSpec& spec = services.ran.spec;
  CHECK(spec.store == "s3://bucket/run");
  CHECK(spec.first_step == 40);
  CHECK(spec.first_words == services.start_answer.words);
  CHECK(spec.environment.at("WANDB_RUN_ID") == "abc");
  CHECK(spec.checkpoints == std::vector<std::string>{"/ck"});
  CHECK(run(services, {"onstart", "--from", "/share/run", "--checkpoints", "mine", "--", "train"}) == 3);
  CHECK(services.starts.folder == "mine");
  CHECK(services.ran.spec.checkpoints == std::vector<std::string>{"mine"});
  services.start_answer = {};
  services.start_answer.empty = true;
  CHECK(run(services, {"onstart", "--from", "/share/run", "--", "train"}) == 3);
  CHECK(services.ran.spec.first_step == 0);
  CHECK(services.ran.spec.checkpoints.empty());
}

TEST_CASE("onstart begins nothing where a run lives in the folder of checkpoints") {
  FakeServices services(State{});
  services.start_answer.taken = "process 77, a midwatch onstart of 2026-11-29T12:30:45.027Z, has /ck";
  CHECK(run(services, {"onstart", "--from", "/share/run", "--name", "mine", "--", "train"}) == 11);
  CHECK(services.ran.spec.command.empty());
  CHECK(services.starts.name == "mine");
  services.start_answer = {};
  services.start_answer.name = "20261129-123045-train";
  services.start_answer.further = services.start_answer.here = true;
  services.start_answer.pulled.step = 50;
  CHECK(run(services, {"onstart", "--from", "/share/run", "--", "train"}) == 3);
  CHECK(services.ran.name == "20261129-123045-train");  // what was quarantined for it is found by that name
  CHECK(services.ran.spec.first_step == 50);
}

TEST_CASE("prune asks for old checkpoints by its rules, and for nothing else") {
  FakeServices services(State{});
  services.freed.run = "one";
  services.freed.things.push_back({"old-checkpoints", "/ck/step_5", "It is old", 10, true, "gone"});
  CHECK(run(services, {"checkpoint", "prune", "--dry-run", "--keep-every", "50", "--keep-best", "reward.mean"}) == 0);
  CHECK(services.to_free.what == std::vector<std::string>{"old-checkpoints"});
  REQUIRE(services.to_free.retention.has_value());
  CHECK(services.to_free.retention->keep_last == 2);
  CHECK(services.to_free.retention->keep_every == 50);
  CHECK(services.to_free.retention->keep_best == "reward.mean");
  CHECK(services.frees == 0);
  CHECK(run(services, {"checkpoint", "prune"}) == 7);  // nobody said yes
  CHECK(services.frees == 0);
  CHECK(run(services, {"checkpoint", "prune", "--keep-last", "3", "--yes"}) == 0);
  CHECK(services.frees == 1);
  CHECK(services.to_free.retention->keep_last == 3);
  CHECK(services.to_free.paths == std::vector<std::string>{"/ck/step_5"});
  CHECK(run(services, {"checkpoint", "prune", "--keep-last", "0", "--yes"}) == 2);
  CHECK(services.frees == 1);
  CHECK(run(services, {"cleanup", "--dry-run"}) == 0);
  CHECK_FALSE(services.to_free.retention.has_value());
}

TEST_CASE("status says where checkpoints are, and what is wrong with the others") {
  FakeRun run;
  event::CheckpointSeen seen;
  for (const int64_t step : {10, 20}) {
    seen.step = step;
    seen.path = cat("/ck/", step);
    seen.how = event::CheckpointSeen::How::kWhole;
    run.say(seen);
  }
  run.at = Time::from_seconds(1000);
  run.say(event::Intended{1, "ship", "/ck/10", 0, ""}).say(event::Acted{1, true, "1 kB", 1});
  run.say(event::Intended{2, "ship", "/ck/20", 0, ""}).say(event::Acted{2, false, kHostile, 1});
  RunStatus how;
  how.now = Time::from_seconds(1300);
  CHECK(terminal_run_status(run.state, how, Console{}).find("shipped") == std::string::npos);
  how.store = "s3://bucket/run";
  const std::string text = terminal_run_status(run.state, how, Console{});
  CHECK(text.find("step 10, 5m 00s ago, to s3://bucket/run; step 20 failed") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  const std::string json = status_json(run.state, how);
  CHECK(json.find("\"last_shipped\":10,\"last_shipped_at\":\"1970-01-01T00:16:40Z\"") != std::string::npos);
  CHECK(json.find("\"state\":\"failed\"") != std::string::npos);
}

}  // namespace
}  // namespace mw
