#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/checkpoint_text.h"
#include "ui/cli/take_run.h"
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

State sick() {
  FakeRun run;
  for (int step = 1; step <= 30; ++step) run.measure(step, 0.5);
  run.incident("zero-reward", Severity::kWarning, 5, "Reward is 0", "x");
  return run.state;
}

TEST_CASE("--since takes steps and times and nothing else") {
  CHECK(parse_since("")->whole());
  CHECK(parse_since("120")->from_step == 120);
  CHECK(parse_since("step:120")->from_step == 120);
  CHECK(format_utc(parse_since("2026-02-19")->from) == "2026-02-19T00:00:00Z");
  CHECK_FALSE(parse_since("-5").ok());
  CHECK(parse_since("2026-02-19T10:00")->from.known());
  CHECK(format_utc(parse_since("2026-02-19T10:00Z")->from) == "2026-02-19T10:00:00Z");
  CHECK(format_utc(parse_since("2026-02-19T10:00+02:00")->from) == "2026-02-19T08:00:00Z");
  CHECK(format_utc(parse_since("2026-02-19T10:00:00+02:00")->from) == "2026-02-19T08:00:00Z");
  CHECK(format_utc(parse_since("2026-02-19T10")->from) == "2026-02-19T10:00:00Z");
  CHECK(format_utc(parse_since("2026-02-19T10:00")->from) == "2026-02-19T10:00:00Z");
  CHECK(format_utc(parse_since("2026-02-19T10:00:30Z")->from) == "2026-02-19T10:00:30Z");
  CHECK(format_utc(parse_since("2026-02-19 10:00:30")->from) == "2026-02-19T10:00:30Z");
  for (const char* wrong : {"yesterday", "step:", "step:x", "12.5", "2026-02-19T10:00 and more", "2026-13-45T99:99",
                            "99999999999999999999", "-9223372036854775808", "step:120 "}) {
    CAPTURE(wrong);
    const auto parsed = parse_since(wrong);
    CHECK_FALSE(parsed.ok());
    if (!parsed.ok()) CHECK(parsed.error().code == Error::Code::kInvalid);
  }
}

TEST_CASE("words go where they belong") {
  FakeServices services(sick());
  CHECK(run(services, {"why", "1", "a.log", "b.log"}) == 0);
  CHECK(services.asked == std::vector<std::string>{"a.log", "b.log"});
  CHECK(run(services, {"compare", "a.log", "b.log"}) == 0);
  CHECK(services.asked == std::vector<std::string>{"b.log"});
  CHECK(run(services, {"replay", "--framework", "verl", "a.log", "b.log"}) == 0);
  CHECK(services.asked == std::vector<std::string>{"a.log", "b.log"});
  CHECK(run(services, {"report", "-o", "out.md", "a.log", "--since", "3"}) == 0);
  CHECK(services.written.rfind("# Run report", 0) == 0);
  CHECK(run(services, {"report", "--json", "-o", "out.json", "a.log"}) == 0);
  CHECK(Json::parse(services.written).ok());
}

TEST_CASE("the command line wins over the file, and the file over the defaults") {
  FakeServices services(sick());
  CHECK(run(services, {"run", "--config", "my.toml", "--grace", "5", "--", "true"}) == 3);
  CHECK(services.ran.spec.config == "my.toml");
  CHECK(services.ran.spec.limits.restarts == 7);
  CHECK(services.ran.spec.grace == Duration::seconds(5));
  CHECK(services.ran.spec.limits.first_wait == RestartLimits().first_wait);
  CHECK(services.ran.spec.command == std::vector<std::string>{"true"});
  CHECK(run(services, {"run", "--restarts", "2", "--", "true"}) == 3);
  CHECK(services.ran.spec.limits.restarts == 2);
  CHECK(services.ran.spec.breaking_hang == Mode::kAsk);
  CHECK(run(services, {"run", "--unattended", "--", "true"}) == 3);
  CHECK((services.ran.spec.unattended && services.ran.spec.breaking_hang == Mode::kAct));
  CHECK(run(services, {"run", "--unattended", "--dry-run", "--", "true"}) == 3);
  CHECK(services.ran.spec.breaking_hang == Mode::kWatch);
}

TEST_CASE("config check says by its exit status whether the file is right") {
  FakeServices services(sick());
  CHECK(run(services, {"config", "check", "my.toml"}) == 0);
  CHECK(services.settings.file == "my.toml");
  CHECK(run(services, {"config", "reference"}) == 0);
  CHECK(run(services, {"config", "nonsense"}) == static_cast<int>(Exit::kUsage));
  services.settings.problems.push_back({3, "unknown key", ""});
  CHECK(run(services, {"config", "check"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"config", "show", "--json"}) == static_cast<int>(Exit::kUsage));
}

TEST_CASE("what is asked of a run goes to its midwatch; only a command of its own can be stopped or paused") {
  FakeServices services(sick());
  services.how.supervised = true;
  services.how.watcher = 7;
  services.how.phase = RunStatus::Phase::kRunning;
  CHECK(run(services, {"tell", "lowered", "lr"}) == 0);
  CHECK(services.put.text == "lowered lr");
  CHECK(run(services, {"tell", " "}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"tell", "--lesson", "profile first"}) == 0);
  CHECK(services.put.kind == "lesson");
  CHECK(services.put.text == "profile first");
  CHECK(run(services, {"tell", "--tag", "ablation"}) == 0);
  CHECK(services.put.kind == "tag");
  CHECK(run(services, {"tell", "--untag", "ablation"}) == 0);
  CHECK(services.put.kind == "untag");
  using Words = std::vector<std::string>;
  for (const Words& wrong : {Words{"tell", "--tag", "two words"}, Words{"tell", "a note", "--tag", "x"},
                             Words{"tell", "--lesson", ""}, Words{"tell"}})
    CHECK(run(services, wrong) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"pause"}) == 0);
  CHECK(services.put.what == RunAsk::What::kPause);
  CHECK(run(services, {"stop", "--now", "--json"}) == 0);
  CHECK(services.put.what == RunAsk::What::kKill);
  CHECK(run(services, {"status", "--check"}) == 0);
  services.how.watcher_stopped = true;
  CHECK(run(services, {"status", "--check"}) == static_cast<int>(Exit::kIncident));
  CHECK(run(services, {"pause"}) == static_cast<int>(Exit::kFailed));
  CHECK(run(services, {"tell", "a note may wait"}) == 0);
  services.how.watcher_stopped = false;
  services.how.watcher = 0;
  CHECK(run(services, {"status", "--check"}) == static_cast<int>(Exit::kIncident));
  CHECK(run(services, {"tell", "a note may wait"}) == 0);
  CHECK(run(services, {"resume"}) == static_cast<int>(Exit::kFailed));
  services.how.supervised = false;
  services.put = {};
  CHECK(run(services, {"stop"}) == static_cast<int>(Exit::kUsage));
  CHECK(services.put.what == RunAsk::What::kTell);
  CHECK(run(services, {"status", "--check"}) == 0);
}

TEST_CASE("runs are looked for, shown and exported; a price is a number") {
  FakeServices services(sick());
  RunsAnswer::Run one;
  one.status.name = "one";
  services.known.runs = {one};
  CHECK(run(services, {"runs", "--framework", "verl", "--tag", "a", "--tag", "b", "--since", "2026-11-01", "two words",
                       "three"}) == 0);
  const RunFilter& filter = services.runs_wanted.filter;
  CHECK(filter.framework == "verl");
  CHECK(filter.tags == std::vector<std::string>{"a", "b"});
  CHECK(format_utc(filter.since) == "2026-11-01T00:00:00Z");
  CHECK(filter.words == std::vector<std::string>{"two", "words", "three"});
  CHECK(services.runs_wanted.limit == 20);
  CHECK(run(services, {"runs"}) == 0);
  CHECK(services.runs_wanted.filter.empty());
  CHECK(run(services, {"runs", "--since", "soon"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"runs", "show", "one"}) == 0);
  CHECK(run(services, {"runs", "show", "--json", "--cost-per-hour", "5.5"}) == 0);
  CHECK(run(services, {"runs", "export", "--csv", "--status", "failed"}) == 0);
  CHECK(services.runs_wanted.filter.status == "failed");
  CHECK(services.runs_wanted.limit == SIZE_MAX);
  for (const char* price : {"dear", "-1", "nan", "1e9", "5.5 USD"})
    CHECK(run(services, {"runs", "show", "--cost-per-hour", price}) == static_cast<int>(Exit::kUsage));
  services.known.runs.clear();
  CHECK(run(services, {"runs", "show"}) == static_cast<int>(Exit::kNoInput));
  CHECK(run(services, {"run", "--cost-per-hour", "2.5", "--", "true"}) == 3);
  CHECK(services.ran.cost_per_hour == 2.5);
}

TEST_CASE("nothing is freed before somebody said yes") {
  FakeServices services(sick());
  CHECK(run(services, {"cleanup"}) == 0);  // there is nothing
  services.freed.run = "one";
  services.freed.things = {{"core-dumps", "/data/core.7", "a core dump", 1000, true, "1.0 KB freed"}};
  CHECK(run(services, {"cleanup"}) == static_cast<int>(Exit::kUndone));
  CHECK(run(services, {"cleanup", "--json"}) == static_cast<int>(Exit::kUndone));
  CHECK(run(services, {"cleanup", "--dry-run", "--yes"}) == 0);
  CHECK(services.frees == 0);
  CHECK(run(services, {"cleanup", "--yes", "--what", "core-dumps", "--what", "shared-memory"}) == 0);
  CHECK(services.frees == 1);
  CHECK(services.to_free.run == "one");
  CHECK(services.to_free.what == std::vector<std::string>{"core-dumps", "shared-memory"});
  CHECK(services.to_free.paths == std::vector<std::string>{"/data/core.7"});
  services.freed.things[0].done = false;
  CHECK(run(services, {"cleanup", "--yes"}) == static_cast<int>(Exit::kFailed));
}

TEST_CASE("verify says by its exit code whether anything differs") {
  FakeServices services(sick());
  services.verified.run = "one";
  CHECK(run(services, {"verify"}) == 0);
  CHECK(run(services, {"verify", "one", "--json"}) == 0);
  services.verified.damage = {"segment 2 is cut"};
  CHECK(run(services, {"verify", "one"}) == static_cast<int>(Exit::kPartial));
  services.verified.differing = 3;
  services.verified.differences = {"event 7: \x1b[2J"};
  CHECK(run(services, {"verify", "one"}) == static_cast<int>(Exit::kFailed));
}

TEST_CASE("old words of the command line are still taken") {
  FakeServices services(sick());
  services.freed.run = "one";
  services.freed.things = {{"core-dumps", "/data/core.7", "a core dump", 1000, true, "1.0 KB freed"}};
  CHECK(run(services, {"free", "--yes"}) == 0);
  CHECK(services.frees == 1);
  CHECK(run(services, {"run", "--take-up=newest"}) == run(services, {"run", "--reattach=newest"}));
  CHECK(services.ran.reattach == "newest");
  CHECK(run(services, {"attach", "--take-up", "newest"}) == static_cast<int>(Exit::kUsage));
}

TEST_CASE("restore puts back what is quarantined only when somebody says so") {
  FakeServices services(sick());
  CHECK(run(services, {"restore"}) == static_cast<int>(Exit::kUndone));
  CHECK(run(services, {"restore", "--json"}) == static_cast<int>(Exit::kUndone));
  CHECK(run(services, {"restore", "--list", "--yes"}) == 0);
  CHECK(services.restores == 0);
  CHECK(run(services, {"restore", "--yes"}) == 0);
  CHECK(services.restores == 1);
}

TEST_CASE("checkpoint verify says by its exit code whether all are whole, and shows foreign names escaped") {
  FakeServices services(sick());
  CheckpointsAnswer::Checkpoint one;
  one.path = cat("/ck/", kHostile);
  one.depth = "structural";
  for (const auto& [state, code] : {std::pair{"whole", 0},
                                    {"partial", 10},
                                    {"corrupt", 10},
                                    {"suspect", 10},
                                    {"writing", 5},
                                    {"unknown", 5},
                                    {"foreign", 4}}) {
    one.state = state;
    CAPTURE(one.state);
    one.problems = {{"missing", "structural", kHostile, kHostile, true}};
    services.checkpoints_found.checkpoints = {one};
    CHECK(run(services, {"checkpoint", "verify", "x", "--deep"}) == code);
    CHECK(services.checkpoints_asked.deep);
    CHECK(run(services, {"checkpoint", "list", "x"}) == 0);
    CHECK(Json::parse(checkpoints_json(services.checkpoints_found)).ok());
    for (const std::string& text : {checkpoints_verified(services.checkpoints_found, Console{}),
                                    checkpoints_list(services.checkpoints_found, Console{})}) {
      CHECK(text.find('\x1b') == std::string::npos);
      CHECK(text.find('\r') == std::string::npos);
    }
  }
  CHECK(run(services, {"checkpoint", "polish"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"checkpoint", "list", "--deep"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"checkpoint", "verify", "x", "--run", "y"}) == static_cast<int>(Exit::kUsage));
}

TEST_CASE("checkpoint list says where what is shipped lies, in a table shortened") {
  CheckpointsAnswer::Checkpoint one;
  one.path = "/ck/step_10";
  one.state = "whole";
  one.shipped = "shipped";
  one.store = "s3://bucket/run";
  CheckpointsAnswer answer;
  answer.checkpoints = {one};
  const auto list = [&answer] { return checkpoints_list(answer, Console{}); };
  CHECK(contains(list(), "  s3://bucket/run  "));
  answer.checkpoints[0].shipped = "waiting";
  CHECK(contains(list(), "  waiting"));
  CHECK_FALSE(contains(list(), "bucket"));
  answer.checkpoints[0].shipped = "shipped";
  answer.checkpoints[0].store = "s3://a-bucket-of-a-long-name/of/a/team/and-run-17";
  CHECK(contains(list(), "s3://a-b…"));
  CHECK(contains(list(), "/team/and-run-17"));
  CHECK(contains(checkpoints_json(answer), R"("store":"s3://a-bucket-of-a-long-name/of/a/team/and-run-17")"));
}

TEST_CASE("checkpoint diff counts an optimizer's steps neither as weights nor as its state") {
  const auto tensor = [](std::string name, double norm, double change) {
    return TensorsAnswer::Tensor{std::move(name),      {"F32", "F32"}, {"2", "2"}, {norm, norm}, {0, 0}, 2,
                                 change > 0 ? 2U : 0U, change,         change,     true};
  };
  TensorsAnswer found;
  found.tensors = {tensor("actor/model_world_size_2_rank_0.pt:a.weight", 10, 0.1),
                   tensor("actor/optim_world_size_2_rank_0.pt:state.0.exp_avg", 1, 0.5),
                   tensor("actor/optim_world_size_2_rank_0.pt:state.0.step", 2, 38),
                   tensor("actor/optim_world_size_2_rank_1.pt:state.0.step", 2, 38)};
  std::string text = tensors_text(found, false, Console{});
  std::replace(text.begin(), text.end(), '\n', ' ');
  CHECK(contains(text, "the weights together changed by 1 %"));
  CHECK(contains(text, "the optimizer's state changed by 50 %"));
  CHECK(text.find("a.weight") < text.find("exp_avg"));
  CHECK(text.find("exp_avg") < text.find("0.step"));
  found.tensors[0].change = found.tensors[1].change = 0;
  CHECK(contains(tensors_text(found, false, Console{}), "the weights together changed by 0 %"));
}

TEST_CASE("checkpoint diff counts the weights in a file of Megatron's rank as weights") {
  const auto tensor = [](std::string name, double change) {
    return TensorsAnswer::Tensor{cat("mp_rank_00/model_optim_rng.pt:", name),
                                 {"F32", "F32"},
                                 {"2", "2"},
                                 {10, 10},
                                 {0, 0},
                                 2,
                                 2U,
                                 change,
                                 change,
                                 true};
  };
  TensorsAnswer found;
  found.tensors = {tensor("model.layers.0.weight", 0.1), tensor("optimizer.state.0.exp_avg", 5)};
  std::string text = tensors_text(found, false, Console{});
  std::replace(text.begin(), text.end(), '\n', ' ');
  CHECK(contains(text, "the weights together changed by 1 %"));
  CHECK(contains(text, "the optimizer's state changed by 50 %"));
}

TEST_CASE("checkpoint diff takes two, and shows first what is not finite") {
  FakeServices services(sick());
  CHECK(run(services, {"checkpoint", "diff", "a"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"checkpoint", "diff", "a", "b"}) == 0);
  CHECK(services.asked == std::vector<std::string>{"a", "b"});
  TensorsAnswer::Tensor calm{"calm", {"F32", "F32"}, {"2", "2"}, {1, 1}, {0, 0}, 2, 1, 0.5, 0.5, true};
  TensorsAnswer::Tensor nan{cat("nan", kHostile), {"F32", "F32"}, {"2", "2"}, {1, 1}, {0, 1}, 2, 1, 0.1, 0.1, true};
  services.tensors_found.tensors = {calm, nan};
  const std::string text = tensors_text(services.tensors_found, false, Console{});
  CHECK(text.find("nan") < text.find("calm"));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(Json::parse(tensors_json(services.tensors_found)).ok());
  services.tensors_found.unread = {"b/model.safetensors: it is cut"};
  CHECK(run(services, {"checkpoint", "diff", "a", "b"}) == static_cast<int>(Exit::kPartial));
  CHECK(contains(tensors_text(services.tensors_found, false, Console{}), "not compared: b/model.safetensors"));
}

TEST_CASE("exit codes are those of the table") {
  FakeServices services(sick());
  CHECK(run(services, {"replay", "a.log", "--fail-on", "warning"}) == static_cast<int>(Exit::kIncident));
  CHECK(run(services, {"replay", "a.log", "--fail-on", "critical"}) == 0);
  CHECK(run(services, {"replay"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"nonsense"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"why", "0", "a.log"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"why", "9", "a.log"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"report", "a.log", "--since", "soon"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"compare", "a.log#7", "a.log"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"compare", "a.log", "a.log", "--signal", "nope"}) == static_cast<int>(Exit::kUsage));
  FakeServices healthy(State{});
  CHECK(run(healthy, {"why", "a.log"}) == 0);  // nothing is wrong with the question
  CHECK(run(services, {"replay", "a.log", "--json", "--series"}) == static_cast<int>(Exit::kUsage));
}

TEST_CASE("a recorded run may be named without --run, and why without a number is of the incident that leads") {
  FakeServices services(sick());
  services.how.supervised = true;
  services.how.watcher = 7;
  services.how.phase = RunStatus::Phase::kRunning;
  services.how.folder = "/home/runs/grpo";
  CHECK(run(services, {"status", "grpo"}) == 0);
  CHECK(services.chosen == "grpo");
  CHECK(run(services, {"pause", "other"}) == 0);
  CHECK(services.chosen == "other");
  services.put = {};
  CHECK(run(services, {"stop", "one", "--run", "two"}) == static_cast<int>(Exit::kUsage));
  CHECK(services.put.what == RunAsk::What::kTell);
  CHECK(run(services, {"why", "a.log"}) == 0);
  CHECK(services.asked == std::vector<std::string>{"a.log"});
  services.missing = "grpo";
  CHECK(run(services, {"why", "grpo"}) == 0);
  CHECK(services.shown == "/home/runs/grpo");
  CHECK(run(services, {"incidents", "grpo"}) == 0);
  services.missing = "./grpo";  // written as a path
  CHECK(run(services, {"incidents", "./grpo"}) != 0);
}

TEST_CASE("every verb and every option of the program is in the README or takes no explaining") {
  std::ifstream file(MW_SOURCE_DIR "/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string readme = text.str();
  REQUIRE_FALSE(readme.empty());
  for (const Verb* verb : all_verbs()) {
    if (verb->hidden) continue;
    CAPTURE(std::string(verb->name));
    CHECK(readme.find(cat("midwatch ", verb->name)) != std::string::npos);
    ArgSpec spec;
    verb->declare(spec);
    bool json = false;
    for (const ArgSpec::Option& option : spec.options) {
      json = json || option.name == "json";
      CHECK_FALSE(option.help.empty());
    }
    CHECK((json || verb->name == "completion"));  // the README promises it of every verb that speaks of runs
    CHECK_FALSE(verb->examples.empty());
  }
  for (const Exit code : {Exit::kOk, Exit::kFailed, Exit::kUsage, Exit::kNoInput, Exit::kUnknown, Exit::kPartial,
                          Exit::kDiskFull, Exit::kUndone, Exit::kActed, Exit::kPerson, Exit::kIncident}) {
    CHECK(readme.find(cat("\n| ", static_cast<int>(code), " | ")) != std::string::npos);
  }
}

TEST_CASE("checkpoint push, pull and remote pass on what was asked, and nothing else") {
  FakeServices services(sick());
  CHECK(run(services, {"checkpoint", "push", "ck", "s3://bucket/run", "--step", "40", "--limit", "50MB", "--parallel",
                       "3", "--allow-older", "--allow-suspect"}) == 0);
  CHECK(services.pushed.path == "ck");
  CHECK(services.pushed.store.place == "s3://bucket/run");
  CHECK(services.pushed.store.rate == 50'000'000);
  CHECK(services.pushed.store.parallel == 3);
  CHECK(services.pushed.step == 40);
  CHECK(services.pushed.older);
  CHECK(services.pushed.suspect);
  CHECK(run(services, {"checkpoint", "push", "ck", "/mnt/run", "--json"}) == 0);
  CHECK(services.pushed.step == kNoStep);
  CHECK_FALSE(services.pushed.older);
  CHECK_FALSE(services.pushed.suspect);
  services.push_answer.latest = PushAnswer::Latest::kFenced;
  CHECK(run(services, {"checkpoint", "push", "ck", "s3://bucket/run"}) == static_cast<int>(Exit::kPartial));
  CHECK(run(services, {"checkpoint", "push", "ck", "s3://broken/run"}) == static_cast<int>(Exit::kUsage));
  for (const auto& wrong :
       std::vector<std::vector<std::string>>{{"--limit", "0B"}, {"--parallel", "0"}, {"--step", "-1"}}) {
    std::vector<std::string> words = {"checkpoint", "push", "ck", "s3://bucket/run"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    CHECK(run(services, words) == static_cast<int>(Exit::kUsage));
  }
  CHECK(run(services, {"checkpoint", "pull", "s3://bucket/run", "out", "--step", "7"}) == 0);
  CHECK(services.pulled.folder == "out");
  CHECK(services.pulled.step == 7);
  CHECK(run(services, {"checkpoint", "remote", "s3://bucket/run"}) == 0);
  services.remote.notes = {"latest names what is not there"};
  CHECK(run(services, {"checkpoint", "remote", "s3://bucket/run", "--json"}) == static_cast<int>(Exit::kPartial));
  CHECK(run(services, {"checkpoint"}) == static_cast<int>(Exit::kUsage));
  CHECK(run(services, {"checkpoint", "--help"}) == 0);
  CHECK(run(services, {"checkpoint", "pull", "--help"}) == 0);
}

}  // namespace
}  // namespace mw
