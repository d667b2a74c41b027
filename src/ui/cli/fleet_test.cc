#include <doctest/doctest.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/fleet_text.h"
#include "ui/report/markdown_history.h"
#include "ui/testing/fake_run.h"
#include "ui/view/layout.h"

namespace mw {
namespace {

using Kind = fleet::Verdict::Kind;
const Time kNow = Time::from_seconds(1'700'000'000);

int run(FakeServices& services, std::vector<std::string> words) {
  words.insert(words.begin(), "midwatch");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return run_command(static_cast<int>(argv.size()), argv.data(), all_verbs(), services, Console{});
}

FleetAnswer rented(std::string name, Kind kind, int64_t step) {
  FleetAnswer out;
  out.run = std::move(name);
  out.control.phase = fleet::Control::Phase::kRented;
  fleet::Rental rental;
  rental.epoch = 1;
  rental.nonce = "0123456789abcdef";
  rental.provider = "vast";
  rental.instance = "29547800";
  rental.asked = kNow + Duration::seconds(-7200);
  out.control.rentals = {rental};
  out.verdict.kind = kind;
  out.seen.now = kNow;
  out.seen.beat.emplace();
  out.seen.beat->step = step;
  out.newest = step - 2;
  out.pushed = kNow + Duration::seconds(-240);
  out.cost = 12.5;
  out.limit = 200;
  return out;
}

FleetAnswer several() {
  FleetAnswer all;
  all.runs.push_back(rented("gsm8k-8b", Kind::kHealthy, 412));
  all.runs.push_back(rented("a-name-that-is-longer-than-its-column-is-wide", Kind::kStalled, 1'234'567));
  all.runs.back().person = true;
  all.runs.back().waits =
      "the run stalls on a machine that lives\x1b[31m: no step for 50 minutes, while all others go on";
  FleetAnswer over;
  over.run = "done";
  over.control.outcome = "finished";
  all.runs.push_back(over);
  FleetAnswer ships;
  ships.run = "ships";
  ships.managed = false;
  all.runs.push_back(ships);
  FleetAnswer broken;
  broken.run = "broken.toml";
  broken.trouble = "[limits] is missing: what may it cost?";
  all.runs.push_back(broken);
  return all;
}

TEST_CASE("offers are asked for by a file, or by what is wanted") {
  FakeServices services{State()};
  CHECK(run(services, {"fleet", "offers", "run.toml"}) == 0);
  CHECK(services.fleet_asked.file == "run.toml");
  CHECK(run(services, {"fleet", "offers", "--gpu", "RTX 4090", "--count", "2", "--gpu-memory", "80GB", "--max-price",
                       "2.50", "--provider", "vast"}) == 0);
  const FleetRequest& asked = services.fleet_asked;
  CHECK(asked.file.empty());
  CHECK(asked.wants.gpu == "RTX 4090");
  CHECK(asked.wants.count == 2);
  CHECK(asked.wants.gpu_memory == 80'000'000'000);
  CHECK(asked.max_price == 2.5);
  CHECK(asked.provider == "vast");
  CHECK(run(services, {"fleet", "offers", "run.toml", "--gpu", "H100"}) == 2);
  CHECK(run(services, {"fleet", "offers", "--count", "many"}) == 2);
  CHECK(run(services, {"fleet", "offers", "--max-price", "-1"}) == 2);
  CHECK(run(services, {"fleet", "offers", "--disk", "much"}) == 2);
}

TEST_CASE("runs are one line each within 80 columns, and what a person must know stands below") {
  Console console;
  console.width = 80;
  const std::string text = fleet_list_text(several(), console);
  const auto lines = split(text, '\n');
  for (const std::string_view line : lines) CHECK_MESSAGE(cells_of(line) <= 80, line);
  CHECK(contains(lines[1], "gsm8k-8b"));
  CHECK(contains(lines[1], "healthy"));
  CHECK(contains(lines[1], "29547800"));
  CHECK(contains(lines[1], "410, 4m"));
  CHECK(contains(lines[3], "finished"));
  CHECK(contains(lines[4], "ships only"));
  CHECK(contains(lines[5], "unreadable"));
  CHECK(contains(text, "a person must look: "));
  CHECK(contains(text, "broken.toml: [limits] is missing"));
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("the runs as JSON have a state each, and the age of their newest checkpoint") {
  const auto json = Json::parse(fleet_list_json(several()));
  REQUIRE(json.ok());
  CHECK(json->string_or("schema", "") == "midwatch.fleet-list/1");
  const auto& runs = json->find("runs")->items();
  REQUIRE(runs.size() == 5);
  CHECK(runs[0].string_or("state", "") == "healthy");
  CHECK(runs[0].number_or("checkpoint_age_s", 0) == doctest::Approx(240));
  CHECK(runs[1].boolean_or("person", false));
  CHECK(runs[4].string_or("trouble", "") != "");
}

TEST_CASE("which runs are meant, and whether a person is needed") {
  FakeServices services(State{});
  CHECK(run(services, {"fleet", "status"}) == 2);
  CHECK(run(services, {"fleet", "status", "run.toml"}) == 0);
  CHECK(services.fleet_asked.what == FleetRequest::What::kStatus);
  CHECK(services.fleet_asked.file == "run.toml");
  services.fleet_answer = several();
  CHECK(run(services, {"fleet", "status", "a.toml", "b.toml", "--store", "s3://bucket", "--region", "eu"}) == 5);
  CHECK(services.fleet_asked.what == FleetRequest::What::kList);
  CHECK(services.fleet_asked.files == std::vector<std::string>{"a.toml", "b.toml"});
  CHECK(services.fleet_asked.store.place == "s3://bucket");
  CHECK(services.fleet_asked.store.region == "eu");
  services.fleet_answer.person = true;
  CHECK(run(services, {"fleet", "status", "specs", "--json"}) == 9);
  services.fleet_answer.person = false;
  services.fleet_answer.runs.pop_back();
  CHECK(run(services, {"fleet", "status", "--store", "/mnt/share"}) == 0);
}

TEST_CASE("a machine that waits for its turn is shown beside the one that trains") {
  FleetAnswer answer = rented("gsm8k-8b", Kind::kHealthy, 412);
  CHECK_FALSE(contains(fleet_text(answer, Console{}), "  next "));
  fleet::Rental next = answer.control.rentals.front();
  next.nonce = "fedcba9876543210";
  next.instance = "29547801";
  fleet::add_intent(answer.control, next);
  answer.control.next = fleet::Control::Phase::kRented;
  const std::string text = fleet_text(answer, Console{});
  CHECK(contains(text, "29547800"));
  CHECK(contains(text, "29547801"));
  CHECK(contains(text, "  next "));
  CHECK(Json::parse(fleet_json(answer))->string_or("next", "") == "rented");
}

/// Two machines of one run: the first was lost after step 12, the second went on from step 10.
RunHistory history() {
  RunHistory out;
  out.fleet = rented("practice", Kind::kHealthy, 20);
  fleet::Control& control = out.fleet.control;
  control.rentals.front().gone = kNow + Duration::seconds(-3600);
  control.rentals.front().price = 2;
  control.rentals.front().end = "silent for more than 15m";
  fleet::Rental second = control.rentals.front();
  second.epoch = 3;
  second.nonce = "fedcba9876543210";
  second.asked = control.rentals.front().gone;
  second.gone = {};
  second.end = "";
  control.rentals.push_back(second);
  fleet::LastBeat first, next;
  first.beat.attempt = next.beat.attempt = 1;
  first.beat.from = 0;
  first.beat.step = 12;
  first.beat.shipped = next.beat.from = 10;
  next.beat.step = 20;
  out.fleet.legs = fleet::legs_of(control, {{"0123456789abcdef", first}, {"fedcba9876543210", next}}, kNow);
  for (size_t leg = 0; leg < 2; ++leg) {
    FakeRun run;
    if (leg == 1) run.say(event::Resumed{10, "/ck/step_10"});
    for (int64_t step = leg == 0 ? 1 : 11; step <= (leg == 0 ? 12 : 20); ++step) run.measure(step, 0.5);
    RunHistory::Record record;
    record.name = leg == 0 ? "first-run" : "second-run";
    record.leg = leg;
    record.replayed = std::make_unique<Replayed>();
    record.replayed->state = std::move(run.state);
    out.records.push_back(std::move(record));
  }
  out.actions.push_back({kNow, 2, "fence", "silent | for more than 15m", "vast", "29547800"});
  out.wandb = "abc123";
  return out;
}

TEST_CASE("the report over several machines is one history: attempts numbered through, what was lost, what it cost") {
  const std::string text = markdown_history(history());
  CHECK(contains(text, "# The run practice over 2 machines\n"));
  CHECK(contains(text, "| W&B run | abc123 |"));
  CHECK(contains(text, "| Steps done again | 2 |"));
  CHECK(contains(text, "| 1 | vast 29547800 |"));
  CHECK(contains(text, "| 1 | 1 | "));
  CHECK(contains(text, "| 2 | 2 | "));
  CHECK(contains(text, "2 steps, done again on the next machine"));
  CHECK(contains(text, "its machine: silent for more than 15m"));
  CHECK(contains(text, "epoch 2: fence 29547800: silent \\| for"));
  CHECK(contains(text, "\n## Machine 1: attempt 1\n"));
  CHECK(contains(text, "\n## Machine 2: attempt 2\n"));
  CHECK(contains(text, "\n### Status: "));
  CHECK(text.find("## Machine 1") < text.find("## Machine 2"));
}

TEST_CASE("what a machine said after its record was shipped counts among what was lost") {
  RunHistory one = history();
  one.fleet.legs[0].last->beat.step = 17;
  const std::string text = markdown_history(one);
  CHECK(contains(text, "1 to 12, by its heartbeat 17"));
  CHECK(contains(text, "7 steps, done again on the next machine"));
}

TEST_CASE("a record that cannot be read is said, and the rest is reported") {
  RunHistory one = history();
  one.records[0].replayed.reset();
  one.records[0].trouble = "its journal is damaged";
  const std::string text = markdown_history(one);
  CHECK(contains(text, "It cannot be read: its journal is damaged"));
  CHECK(contains(text, "\n## Machine 2: attempt 1\n"));
}

TEST_CASE("report --from asks the store for the whole run, and goes with no other run") {
  FakeServices services(State{});
  services.history_answer = history();
  CHECK(run(services, {"report", "--from", "s3://bucket/run", "--endpoint", "http://here"}) == 0);
  CHECK(services.history_asked.place == "s3://bucket/run");
  CHECK(services.history_asked.endpoint == "http://here");
  services.history_answer = history();
  services.history_answer.records[1].replayed.reset();
  CHECK(run(services, {"report", "--from", "s3://bucket/run"}) == 5);
  CHECK(run(services, {"report", "train.log", "--from", "s3://bucket/run"}) == 2);
  CHECK(run(services, {"report", "--from", "s3://bucket/run", "--since", "12"}) == 2);
}

}  // namespace
}  // namespace mw
