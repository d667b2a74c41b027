#include "act/supervise/supervisor.h"

#include <doctest/doctest.h>

#include <csignal>
#include <map>

#include "act/keeper/launch.h"
#include "base/text.h"
#include "core/supervise/outcome_json.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

/// Writes nothing down but folds it, as the journal would.
class FakeWriter final : public EventWriter {
 public:
  explicit FakeWriter(State& state) : state_(state) {}
  Result<uint32_t> intend(event::Intended intent) override {
    if (full) return Error{Error::Code::kFull, "no space", ""};
    intent.id = state_.last_action + 1;
    const uint32_t id = intent.id;
    fold(state_, {{}, {}, std::move(intent)});
    return id;
  }
  void acted(event::Acted outcome) override { fold(state_, {{}, {}, std::move(outcome)}); }
  Result<void> note(event::Note words, Time at) override {
    fold(state_, {at, {}, std::move(words)});
    return {};
  }
  using EventWriter::record;
  Result<void> record(SupervisionEvent event, Time at) override {
    if (full) return Error{Error::Code::kFull, "no space", ""};
    std::visit([&](auto& body) { fold(state_, {at, {}, std::move(body)}); }, event);
    return {};
  }
  void request(const std::string& what) { REQUIRE(record(event::Requested{what, "mira@node7"}).ok()); }
  bool full = false;

 private:
  State& state_;
};

/// A world in which keepers start their commands, and commands end when the test says so.
struct World {
  FakeDisk disk;
  FakeClock clock;
  FakeProcesses processes;
  Knowledge knowledge;
  State state;
  FakeWriter writer{state};
  std::vector<std::string> said;
  int keepers = 0;
  int64_t next_pid = 100;
  int64_t keeper = 0, child = 0;
  std::unique_ptr<Supervisor> one;

  explicit World(int restarts = 2) {
    RunSpec spec;
    spec.command = {"python", "train.py"};
    spec.folder = "/work";
    spec.limits.restarts = restarts;
    disk.put("run/run.json", run_spec_text(spec));
    open();
  }
  void open() {
    auto opened = Supervisor::open({disk, clock, processes, [this](const std::string& folder) { return start(folder); },
                                    [this](const std::string& path, std::string_view text) {
                                      disk.put(path, std::string(text));
                                      return Result<void>();
                                    },
                                    [](const std::string&) { return CheckpointLayout(); },
                                    [this](const std::string& sentence) { said.push_back(sentence); }},
                                   knowledge, "run");
    REQUIRE(opened.ok());
    one = std::move(*opened);
    if (one->attempt() == 0) turn();
  }
  Result<void> start(const std::string& folder) {
    ++keepers;
    keeper = next_pid++;
    write(folder, record_keeping(processes.add(keeper, 1, keeper), "boot", clock.now()));
    auto kept = read_kept(disk, folder);
    if (!kept->child.known()) {
      child = next_pid++;
      write(folder, record_started(processes.add(child, keeper, child), clock.now()));
    }
    return {};
  }
  void write(const std::string& folder, const std::string& line) {
    auto journal = Journal::open(disk, cat(folder, "/", kRecordFolder), nullptr);
    REQUIRE(journal.ok());
    (*journal)->append(line);
    REQUIRE((*journal)->sync().ok());
  }
  /// The command ends, and its keeper with it.
  void end(int code, int signal = 0) {
    Ending ending;
    ending.at = clock.now();
    ending.code = code;
    ending.signal = signal;
    std::erase_if(processes.alive, [this](const auto& process) { return process.second.session == child; });
    processes.alive.erase(keeper);
    write(one->attempt_folder(), record_ended(ending));
    write(one->attempt_folder(), record_done(clock.now()));
  }
  bool turn(bool quiet = true) {
    auto on = one->turn(state, quiet, writer);
    REQUIRE(on.ok());
    return *on;
  }
  /// Turns until the wait before the next attempt is over.
  void pass(double seconds) {
    for (double t = 0; t < seconds; t += 0.5) {
      clock.pass(Duration::seconds(0.5));
      if (!turn()) return;
    }
  }
};

TEST_CASE("an exit status of 0 ends it") {
  World world;
  CHECK(world.turn());
  CHECK(world.one->attempt() == 1);
  world.end(0);
  CHECK(world.turn(false));
  CHECK(world.turn(false));  // unread output may yet say why it ended
  CHECK_FALSE(world.turn());
  CHECK(world.one->ending()->code == 0);
  CHECK(world.keepers == 1);
  REQUIRE(world.state.supervision.attempt(1) != nullptr);
  CHECK(world.state.supervision.attempt(1)->decided);
}

TEST_CASE("a killed command is started again, until its budget is spent") {
  World world(2);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    CHECK(world.one->attempt() == attempt);
    world.pass(90);  // it loaded its model, at least
    world.end(-1, 9);
    world.pass(60);
  }
  CHECK(world.one->attempt() == 3);
  CHECK(world.keepers == 3);
  CHECK(world.one->why_over() == "3 attempts in a row came no further; the limit is 2.");
  const auto launch = parse_launch(world.disk.content("run/attempts/3/launch.json"));
  REQUIRE(launch.ok());
  CHECK(launch->environment.at("MIDWATCH_ATTEMPT") == "3");
  CHECK(launch->output == "run/output/train.log");
}

TEST_CASE("the next midwatch goes on in every state that the last one left") {
  World world;
  world.turn();
  world.open();  // running
  world.turn();
  CHECK(world.keepers == 1);
  CHECK(world.one->attempt() == 1);

  world.end(1);  // ended while nobody watched
  world.open();
  world.turn();
  world.turn();
  REQUIRE(world.state.supervision.attempt(1) != nullptr);
  CHECK(world.state.supervision.attempt(1)->decided);

  world.open();  // waiting for its restart
  CHECK(world.one->attempt() == 1);
  world.pass(30);
  CHECK(world.one->attempt() == 2);
  CHECK(world.keepers == 2);

  world.disk.put("run/attempts/3/launch.json", world.disk.content("run/attempts/2/launch.json"));
  world.end(1);
  world.open();  // killed between deciding on attempt 3 and starting its keeper
  CHECK(world.one->attempt() == 3);
  world.turn();
  CHECK(world.keepers == 3);
  CHECK(world.turn());
}

TEST_CASE("an approval that was left while no midwatch ran lets the next attempt begin, whatever else was asked") {
  for (const bool was_to_be_ended : {false, true}) {
    World world;
    RunSpec spec = world.one->spec();
    spec.restarting = Mode::kAsk;
    world.disk.put("run/run.json", run_spec_text(spec));
    world.open();
    world.turn();
    if (was_to_be_ended) REQUIRE(world.writer.record(event::Asked{1, "break", "attempt 1 would be ended"}).ok());
    world.end(1);
    world.pass(30);
    REQUIRE(world.state.supervision.attempt(1)->restarting.waits());
    world.open();  // the inbox has its turn before the supervisor
    REQUIRE(world.one->approve(world.state, world.writer).ok());
    world.pass(30);
    CHECK(world.one->attempt() == 2);
  }
}

TEST_CASE("a run that midwatch 0.1 began is reattached: its files have other names") {
  World world;
  const std::string spec = world.disk.content("run/run.json");
  REQUIRE(world.disk.remove("run/run.json").ok());
  world.disk.put("run/charge.json", spec);
  world.open();
  CHECK(world.one->attempt() == 1);
  CHECK(world.one->spec().command == std::vector<std::string>{"python", "train.py"});
}

TEST_CASE("a killed keeper is replaced, a living one is not") {
  World world;
  world.turn();
  world.pass(30);
  CHECK(world.keepers == 1);
  world.processes.alive.erase(world.keeper);
  world.turn();
  CHECK(world.keepers == 2);
  world.processes.alive[world.keeper].id.start += 1;  // its number belongs to somebody else now
  world.pass(2);
  CHECK(world.keepers == 3);
}

/// A run with a nonce whose attempt 1 runs, and `files` in its folder.
void reattach_with(World& world, const std::map<std::string, std::string>& files) {
  RunSpec spec;
  spec.command = {"python", "train.py"};
  spec.folder = "/work";
  spec.nonce = "0123456789abcdef";
  spec.marker = "fedcba9876543210";
  world.disk.put("run/run.json", run_spec_text(spec));
  for (const std::string& path : world.disk.paths()) {
    if (path.starts_with("run/attempts/")) world.disk.unlink(path);
  }
  for (const auto& [name, text] : files) world.disk.put(cat("run/", name), text);
  world.state = {};
  world.keepers = 0;
  world.one.reset();
  world.open();
  world.turn();
}

TEST_CASE("files in the run's folder change nothing of what is requested, decided or paused") {
  World world;
  std::map<std::string, std::string> files;
  for (const char* name : {"stop", "paused", "attempts/1/judgement.json", "attempts/1/trip.json",
                           "attempts/1/asked-to-break", "attempts/1/may-break", "components/holds-trainer"})
    files[name] = "";
  files["stop"] = R"({"version":1,"run":"another nonce","what":"stop"})";
  reattach_with(world, files);
  CHECK(world.one->attempt() == 1);
  CHECK(world.keepers == 1);
  CHECK_FALSE(world.one->stopping());
  const Supervision& known = world.state.supervision;
  CHECK_FALSE(known.stop);
  CHECK_FALSE(known.pause);
  CHECK(known.requests.empty());
  CHECK((known.attempt(1) == nullptr || !known.attempt(1)->decided));
}

TEST_CASE("what midwatch 0.1 kept in files of its own is recorded once, and holds") {
  World world;
  const std::string nonce = R"("version":1,"run":"0123456789abcdef")";
  const std::string launch =
      R"({"attempt":1,"nonce":"0123456789abcdef","command":["x"],"folder":"/work","output":"o","rotate_bytes":1000})";
  const auto parsed = parse_launch(launch);
  REQUIRE(parsed.ok());
  reattach_with(world,
                {{"attempts/1/launch.json", launch_text(*parsed)},
                 {"attempts/1/trip.json", cat("{", nonce, R"(,"kind":"engine-dead","step":75})")},
                 {"attempts/1/judgement.json",
                  cat("{", nonce, R"(,"started":true,"known":true,"code":1,"restart":true,"wait_ns":1000000000,)",
                      R"("why":"So.","set_aside":{"roots":[]},"resume":{"step":60,"path":"ck/60","words":["a"]}})")},
                 {"paused", cat("{", nonce, "}")}});
  const Supervision& known = world.state.supervision;
  REQUIRE(known.attempt(1) != nullptr);
  CHECK(known.attempt(1)->decided);
  CHECK(known.attempt(1)->restart);
  CHECK(known.attempt(1)->trip.has_value());
  CHECK(judgement_of(*known.attempt(1)).resume.step == 60);
  CHECK(known.pause);
  CHECK_FALSE(world.disk.exists("run/paused"));
  const size_t requests = known.requests.size();
  world.open();
  world.turn();
  CHECK(known.requests.size() == requests);
  CHECK(world.one->attempt() == 1);  // it is paused
  world.writer.request("resume");
  world.pass(3);
  CHECK(world.one->attempt() == 2);
}

TEST_CASE("asked to stop: SIGINT to its session, SIGTERM, SIGKILL to all that came from it") {
  World world;
  world.turn();
  const int64_t helper = 900, daemonised = 901, stranger = 902;
  world.processes.add(helper, world.child, world.child);
  world.processes.add(daemonised, world.keeper, daemonised);
  world.processes.add(stranger, 1, stranger);
  world.one->stop(false);
  world.turn();
  using Sent = std::vector<std::pair<int64_t, int>>;
  CHECK(world.processes.sent == Sent{{world.child, SIGINT}, {helper, SIGINT}});
  world.processes.sent.clear();
  world.pass(16);
  CHECK(world.processes.sent == Sent{{world.child, SIGTERM}, {helper, SIGTERM}});
  world.processes.sent.clear();
  world.pass(16);
  for (const auto& [pid, number] : world.processes.sent) {
    CHECK(number == SIGKILL);
    CHECK(pid != stranger);
  }
  CHECK(world.processes.sent.size() >= 3);
  world.processes.alive.erase(daemonised);  // it had to go
  world.end(-1, 9);
  world.pass(2);
  CHECK(world.one->why_over() == "A stop was requested.");
}

TEST_CASE("poisoned data: the attempt is ended, and the next one resumes from a good checkpoint") {
  World world;
  world.turn();
  const int64_t engine = 960;
  world.processes.add(engine, world.child, world.child);
  world.state.attempts.resize(1);
  world.state.attempts[0].last_step = 77;
  world.state.attempts[0].last_checkpoint = 60;
  Incident dead;
  dead.kind = "engine-dead";
  dead.severity = Severity::kCritical;
  dead.onset.step = dead.latest.step = 75;
  dead.reaction = "restart-component";
  world.state.incidents.push_back(dead);
  world.turn();
  CHECK(world.processes.sent.empty());  // the text alone says so
  ComponentState part;
  part.troubles.push_back({{}, 0, {}, Moment{}, std::nullopt});
  world.state.components.push_back(part);
  world.turn();
  using Sent = std::vector<std::pair<int64_t, int>>;
  CHECK(world.processes.sent == Sent{{world.child, SIGINT}, {engine, SIGINT}});  // nothing is about to be saved
  world.processes.alive.erase(engine);
  world.open();  // the next midwatch knows that it was the breaker
  world.end(-1, 9);
  world.pass(2);
  REQUIRE(world.state.supervision.attempt(1) != nullptr);
  const Judgement judgement = judgement_of(*world.state.supervision.attempt(1));
  CHECK(judgement.outcome.tripped);
  CHECK(judgement.outcome.suspect == kNoStep);
  CHECK(judgement.decision.restart);
  world.processes.sent.clear();
  while (world.one->attempt() == 1) world.pass(0.5);
  CHECK(world.turn(false));
  CHECK(world.turn(false));  // the new attempt's first line is unread: what `state` tells is of the one before
  world.state.attempts.resize(2);
  world.pass(5);
  CHECK(world.processes.sent.empty());  // the incident is of the attempt before
}

TEST_CASE("an attempt that only waits is ended once its stacks are read, one on poisoned data at once") {
  for (const std::string kind : {"stall", "engine-dead"}) {
    World world;
    world.turn();
    world.state.attempts.resize(1);
    ComponentState engine;
    engine.troubles.push_back({{}, 0, {}, Moment{}, std::nullopt});
    world.state.components.push_back(engine);
    Incident incident;
    incident.kind = kind;
    incident.severity = Severity::kCritical;
    world.state.incidents.push_back(incident);
    bool reads = true;
    world.one->spare_while([&reads] { return reads; });
    world.turn();
    REQUIRE(world.state.actions.size() == 1);
    CHECK(world.state.actions[0].intent.action == "break");
    CHECK(world.processes.sent.empty() == (kind == "stall"));
    reads = false;
    world.turn();
    CHECK_FALSE(world.processes.sent.empty());
    CHECK(world.state.actions.size() == 1);
  }
}

TEST_CASE(
    "paused: all processes are stopped, by the next midwatch too, and no attempt begins; resumed: they continue") {
  World world;
  world.turn();
  world.writer.request("pause");
  world.turn();
  using Sent = std::vector<std::pair<int64_t, int>>;
  CHECK(world.processes.sent == Sent{{world.child, SIGSTOP}});
  world.processes.alive[world.child].state = 'T';
  world.open();
  world.turn();
  CHECK(world.processes.sent.size() == 1);  // it is paused already
  world.processes.add(970, world.child, world.child);
  world.turn();
  CHECK(world.processes.sent.back() == std::pair<int64_t, int>{970, SIGSTOP});
  world.processes.alive[970].state = 'T';
  world.processes.sent.clear();
  world.writer.request("resume");
  world.open();  // killed before it could resume them
  world.turn();
  CHECK(world.processes.sent == Sent{{world.child, SIGCONT}, {970, SIGCONT}});
  world.writer.request("pause");
  world.end(1);
  world.pass(60);
  CHECK(world.one->attempt() == 1);
  world.writer.request("resume");
  world.pass(1);
  CHECK(world.one->attempt() == 2);
  for (const ActionState& action : world.state.actions) CHECK(action.done);
}

TEST_CASE("every action is recorded before it is done, and so is its outcome; what cannot be recorded is not done") {
  World world;
  world.turn();
  world.writer.full = true;
  world.one->stop(false);
  CHECK_FALSE(world.one->turn(world.state, true, world.writer).ok());
  CHECK(world.processes.sent.empty());
  world.writer.full = false;
  world.turn();
  CHECK(world.processes.sent.size() == 1);
  REQUIRE(world.state.actions.size() == 1);
  CHECK(world.state.actions[0].intent.action == "stop");
  CHECK_FALSE(world.state.actions[0].done);
  world.end(0);
  world.pass(2);
  CHECK(world.state.actions[0].done);
  CHECK(world.state.actions[0].outcome == "exit status 0");
}

TEST_CASE("what the midwatch before meant to do is settled by the next one") {
  World world;
  world.turn();
  world.end(1);
  while (world.one->attempt() == 1) world.pass(0.5);
  REQUIRE(world.state.actions.size() == 1);
  CHECK(world.state.actions[0].intent.target == "attempt 2");
  CHECK_FALSE(world.state.actions[0].done);
  fold(world.state, {{}, {}, event::Intended{9, "stop", "attempt 2", 0, ""}});  // it died before it left word of it
  world.open();
  world.turn();
  CHECK(world.state.actions[0].done);
  CHECK(world.state.actions[0].ok);
  CHECK(world.state.actions[1].done);
  CHECK_FALSE(world.state.actions[1].ok);
}

TEST_CASE("what the command leaves behind is ended before the next attempt") {
  World world;
  world.turn();
  const int64_t engine = 950;
  world.processes.add(engine, world.keeper, engine);
  Ending ending;
  ending.code = 1;
  world.processes.alive.erase(world.child);
  world.write(world.one->attempt_folder(), record_ended(ending));
  world.turn();
  CHECK(world.processes.sent.empty());
  world.pass(6);
  REQUIRE(world.processes.sent.size() == 1);
  CHECK(world.processes.sent[0] == std::pair<int64_t, int>{engine, SIGTERM});
  world.pass(6);
  CHECK(world.processes.sent.back() == std::pair<int64_t, int>{engine, SIGKILL});
  CHECK(world.one->attempt() == 1);
}

TEST_CASE("a command that cannot be started is not tried again") {
  World world;
  world.write(world.one->attempt_folder(), record_failed("no such file", world.clock.now()));
  world.pass(2);
  CHECK_FALSE(world.one->could_start());
  CHECK(world.one->why_over() == "The command could not be started.");
}

TEST_CASE("a stop for want of a component keeps its reason") {
  World world;
  world.turn();
  world.one->stop_for("judge", "The run cannot go on without component judge: it is gone.");
  world.turn();
  world.end(-1, 2);
  world.pass(2);
  CHECK(world.one->why_over() == "The run cannot go on without component judge: it is gone.");
  CHECK(world.one->unfinished());
}

}  // namespace
}  // namespace mw
