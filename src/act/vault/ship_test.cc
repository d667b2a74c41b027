// Shipping beside a run: a real folder as the store, a trainer that deletes what is being shipped, and the task's
// turns.
#include "act/vault/ship.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "act/cleanup/cleanup_result.h"
#include "act/vault/pull.h"
#include "act/vault/ship_logs.h"
#include "act/vault/ship_task.h"
#include "act/vault/tree.h"
#include "base/prng.h"
#include "base/text.h"
#include "core/overwrites.h"
#include "platform/real/posix_disk.h"

namespace mw::vault {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  Scratch() {
    root = (fs::temp_directory_path() / "midwatch-ship-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { fs::remove_all(root); }
  std::string text(const std::string& path) const {
    std::ifstream file(root + path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void write(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path, std::ios::binary) << content;
  }
  static std::string random(size_t bytes, uint64_t seed) {
    Prng dice(seed);
    std::string content(bytes, ' ');
    for (char& c : content) c = static_cast<char>(dice.next());
    return content;
  }
  std::string root;
};

struct World : Scratch {
  World() : disk(make_posix_disk()), store(make_folder_store(root + "/bucket")), clock(make_posix_clock()) {
    write("/ck/step_7/a.dat", random(20'000, 1));
    write("/ck/step_7/sub/b.dat", random(30'000, 2));
    options.push.prefix = "run";
    options.push.folder = root + "/ck/step_7";
    options.push.step = 7;
    options.push.owner = "me";
    options.push.settle = {};
    options.push.part_bytes = 4096;
    options.push.pace.parallel = 1;
    options.owner = "this-run";
    options.least_bytes = 50'000;
  }
  VaultDoors doors() {
    return {*disk,
            *store,
            *clock,
            [](Duration) {},
            [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
            [this](const Progress&) {
              if (meanwhile) meanwhile();
            }};
  }
  std::vector<std::string> names(const std::string& folder) const {
    std::vector<std::string> out;
    for (const auto& one : fs::directory_iterator(root + folder)) out.push_back(one.path().filename().string());
    return out;
  }
  std::unique_ptr<Disk> disk;
  std::unique_ptr<ObjectStore> store;
  std::unique_ptr<Clock> clock;
  std::function<void()> meanwhile;
  ShipOptions options;
};

TEST_CASE("a checkpoint that its trainer deletes while it is sent is shipped whole") {
  World world;
  const std::string a = world.text("/ck/step_7/a.dat"), b = world.text("/ck/step_7/sub/b.dat");
  world.meanwhile = [&world] { fs::remove_all(world.root + "/ck/step_7"); };
  const auto shipped = ship(world.doors(), world.options);
  REQUIRE_MESSAGE(shipped.ok(), (shipped.ok() ? "" : shipped.error().what));
  CHECK_FALSE(fs::exists(world.root + "/ck/step_7"));
  CHECK(shipped->manifest.name == "step_7");
  CHECK(world.names("/ck").empty());  // and the second names are gone
  world.meanwhile = nullptr;
  PullOptions back;
  back.prefix = "run";
  back.folder = world.root + "/back";
  REQUIRE(pull(world.doors(), back).ok());
  CHECK(world.text("/back/a.dat") == a);
  CHECK(world.text("/back/sub/b.dat") == b);
}

TEST_CASE("one that is not all there any more is not shipped, and one that changes is not either") {
  World world;
  fs::remove(world.root + "/ck/step_7/a.dat");
  CHECK(ship(world.doors(), world.options).error().code == Error::Code::kNotFound);
  fs::remove_all(world.root + "/ck/step_7");
  CHECK(ship(world.doors(), world.options).error().code == Error::Code::kNotFound);
  CHECK_FALSE(fs::exists(world.root + "/bucket/run/manifests"));
  World other;
  other.meanwhile = [&other] { std::ofstream(other.root + "/ck/step_7/sub/b.dat", std::ios::app) << "more"; };
  CHECK(ship(other.doors(), other.options).error().code == Error::Code::kInvalid);
  CHECK_FALSE(fs::exists(other.root + "/bucket/run/manifests"));
  CHECK(other.names("/ck") == std::vector<std::string>{"step_7"});
}

TEST_CASE("what its framework lists as its own and is not there keeps it from being shipped") {
  World world;
  world.write("/verl/global_step_7/actor/huggingface/config.json", "{}");
  world.write("/verl/global_step_7/actor/fsdp_config.json", "{}");
  world.options.push.folder = world.root + "/verl/global_step_7";
  world.options.least_bytes = 0;
  const auto shipped = ship(world.doors(), world.options);
  REQUIRE_FALSE(shipped.ok());
  CHECK(shipped.error().hint == kBrokenHint);
  CHECK_FALSE(fs::exists(world.root + "/bucket/run/latest.json"));
}

TEST_CASE("where any folder is taken for a checkpoint the second names lie beside that of the checkpoints") {
  World world;
  world.options.beside = true;
  world.write("/ck/.midwatch-shipping/this-run/step_3/a.dat", "of an earlier midwatch");
  std::vector<std::string> among, names;
  world.meanwhile = [&world, &among, &names] {
    among = world.names("/ck");
    names = world.names("/.midwatch-shipping/ck/this-run");
    fs::remove_all(world.root + "/ck/step_7");
  };
  REQUIRE(ship(world.doors(), world.options).ok());
  CHECK(among.size() <= 1);
  CHECK(names == std::vector<std::string>{"step_7"});
  CHECK(world.names("/ck").empty());
  CHECK_FALSE(fs::exists(world.root + "/.midwatch-shipping"));
}

TEST_CASE("what an earlier process left under the second names goes, and another run's stays") {
  World world;
  world.write("/ck/.midwatch-shipping/this-run/step_3/a.dat", "old");
  world.write("/ck/.midwatch-shipping/another/step_3/a.dat", "theirs");
  REQUIRE(ship(world.doors(), world.options).ok());
  CHECK_FALSE(fs::exists(world.root + "/ck/.midwatch-shipping/this-run"));
  CHECK(world.text("/ck/.midwatch-shipping/another/step_3/a.dat") == "theirs");
}

TEST_CASE("logs that grow, shrink and are renamed come out as they are") {
  World world;
  const std::string line = Scratch::random(1'500'000, 3);
  world.write("/run/output/train.log", line);
  world.write("/run/journal/000001", "first\n");
  world.write("/run/secret.json", "not this one");
  world.write("/run/output/train.log.reserve", "nor this one");
  LogShipper shipper("run", world.root + "/run", "one", {"journal", "output"});
  CHECK(*shipper.ship(world.doors()) == 1'500'006);
  CHECK(*shipper.ship(world.doors()) == 0);
  world.write("/run/output/train.log", line + "more\n");
  const auto sent = shipper.ship(world.doors());
  REQUIRE(sent.ok());
  CHECK(*sent == 1'500'005 - kLogPiece);  // the piece at the end, once more
  // Another process goes on, and sends nothing twice.
  LogShipper next("run", world.root + "/run", "one", {"journal", "output"});
  CHECK(*next.ship(world.doors()) == 0);
  fs::rename(world.root + "/run/output/train.log", world.root + "/run/output/train.log.1");
  world.write("/run/output/train.log", "begun anew\n");
  REQUIRE(next.ship(world.doors()).ok());
  const auto received = receive_logs(world.doors(), "run", world.root + "/lost");
  REQUIRE_MESSAGE(received.ok(), (received.ok() ? "" : received.error().what));
  REQUIRE(received->size() == 1);
  CHECK(received->front().name == "one");
  CHECK(received->front().files == 3);
  CHECK(world.text("/lost/one/output/train.log") == "begun anew\n");
  CHECK(world.text("/lost/one/output/train.log.1") == line + "more\n");
  CHECK(world.text("/lost/one/journal/000001") == "first\n");
  CHECK_FALSE(fs::exists(world.root + "/lost/one/secret.json"));
  CHECK(receive_logs(world.doors(), "run", world.root + "/lost").error().code == Error::Code::kInvalid);
  const auto journals = receive_logs(world.doors(), "run", world.root + "/journals", "journal/");
  REQUIRE(journals.ok());
  CHECK(journals->front().files == 1);
  CHECK_FALSE(fs::exists(world.root + "/journals/one/output"));
  CHECK(receive_logs(world.doors(), "none", world.root + "/lost").error().code == Error::Code::kNotFound);
}

}  // namespace
}  // namespace mw::vault

namespace mw {
namespace {

/// Writes nothing down but folds it, as the journal would.
class FoldingWriter final : public EventWriter {
 public:
  explicit FoldingWriter(State& state) : state_(state) {}
  Result<uint32_t> intend(event::Intended intent) override {
    intent.id = state_.last_action + 1;
    const uint32_t id = intent.id;
    fold(state_, {{}, {}, std::move(intent)});
    return id;
  }
  void acted(event::Acted outcome) override { fold(state_, {{}, {}, std::move(outcome)}); }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::record;
  Result<void> record(SupervisionEvent, Time) override { return {}; }

 private:
  State& state_;
};

struct Beside {
  State state;
  FoldingWriter writer{state};
  FakeClock clock;
  struct Store {
    std::atomic<bool> fails{false}, blocks{false}, broken{false};
    std::atomic<int> calls{0}, logs{0};
    std::string hint;  ///< of its failure; not changed while a call is out
  };
  std::shared_ptr<Store> store = std::make_shared<Store>();  // a call may outlive the case
  std::set<std::string> there;
  std::vector<std::string> said;
  bool received = false;
  std::unique_ptr<ShipTask> task;

  Beside() {
    fold(state, {{}, {}, event::AttemptBegan{"banner"}});
    begin();
  }
  void begin() {
    ShipScope scope;
    scope.ship = [store = store](const ShipJob& job, const vault::StopFlag& stop) -> Result<vault::Pushed> {
      ++store->calls;
      while (store->blocks && !stop->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (stop->load()) return Error{Error::Code::kInterrupted, "midwatch was asked to end", ""};
      if (store->broken)
        return Error{Error::Code::kInvalid, "the checkpoint is broken: data.pt: it is missing",
                     std::string(vault::kBrokenHint)};
      if (store->fails) return Error{Error::Code::kIo, "the store is down", store->hint};
      vault::Pushed pushed;
      pushed.manifest.step = job.what.step;
      return pushed;
    };
    scope.ship_logs = [store = store](const vault::StopFlag&) -> Result<int64_t> {
      ++store->logs;
      return 0;
    };
    scope.there = [this](const std::string& path) { return there.count(path) != 0; };
    scope.layout = [](const std::string&) { return CheckpointLayout{"step_{step}", "", ""}; };
    scope.say = [this](const std::string& sentence) { said.push_back(sentence); };
    scope.place = "s3://bucket/run";
    scope.received = received;
    task = std::make_unique<ShipTask>(clock, std::move(scope));
  }
  /// It lies there before the first attempt, and is scanned later.
  void receive(int64_t step) {
    received = true;
    begin();
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = cat("/ck/step_", step);
    seen.how = event::CheckpointSeen::How::kWhole;
    there.insert(seen.path);
    for (const std::string_view what : {kToGoOnFrom, std::string_view()}) {
      seen.what = what;
      fold(state, {{}, {}, event::CheckpointSeen(seen)});
    }
  }
  void save(int64_t step) {
    const std::string path = cat("/ck/step_", step);
    there.insert(path);
    fold(state, {{}, {}, event::CheckpointSaved{step, path, true}});
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = path;
    seen.how = event::CheckpointSeen::How::kWhole;
    fold(state, {{}, {}, std::move(seen)});
  }
  template <typename Until>
  void turn_until(Until until) {
    for (int i = 0; i < 10'000 && !until(); ++i) {
      (void)task->turn(state, true, writer);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(until());
  }
  bool all_shipped() const {
    const auto all = shipments(state);
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.how == Shipment::How::kShipped; });
  }
  bool failed() const {
    const auto all = shipments(state);
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.how == Shipment::How::kFailed; });
  }
};

TEST_CASE("a store that fails is tried again after growing waits, and every try stands in the journal") {
  Beside beside;
  beside.store->fails = true;
  beside.save(10);
  beside.turn_until([&] { return beside.failed(); });
  CHECK(shipments(beside.state).front().text == "the store is down. Next try in 5.0 s");
  for (int i = 0; i < 20; ++i) (void)beside.task->turn(beside.state, true, beside.writer);
  CHECK(beside.store->calls == 1);  // not before its time
  beside.clock.pass(ShipTask::kFirstWait);
  beside.turn_until([&] { return beside.store->calls == 2 && beside.failed(); });
  CHECK(contains(shipments(beside.state).front().text, "Next try in 10.0 s"));
  beside.store->fails = false;
  beside.clock.pass(Duration::seconds(10));
  beside.turn_until([&] { return beside.all_shipped(); });
  CHECK(beside.state.actions.size() == 3);
}

TEST_CASE("what is written over while it is sent is tried again soon, however often") {
  Beside beside;
  beside.store->fails = true;
  beside.store->hint = std::string(vault::kWrittenHint);
  beside.save(10);
  for (int calls = 1; calls < 6; ++calls) {
    beside.turn_until([&] { return beside.store->calls == calls && beside.failed(); });
    CHECK(shipments(beside.state).front().text == "the store is down. Next try in 5.0 s");
    beside.clock.pass(ShipTask::kFirstWait);
  }
}

TEST_CASE("what was taken away while it was sent is said to be gone by whoever took it") {
  const auto text_of = [](const std::function<void(Beside&)>& meanwhile) {
    Beside beside;
    beside.store->blocks = true;
    beside.save(10);
    beside.turn_until([&] { return beside.store->calls == 1; });
    meanwhile(beside);
    beside.there.clear();
    beside.store->fails = true;
    beside.store->blocks = false;
    beside.turn_until([&] { return beside.failed(); });
    return shipments(beside.state).front().text;
  };
  CHECK(text_of([](Beside&) {}) == "its trainer, or somebody else, deleted it before it was shipped");
  CHECK(text_of([](Beside& beside) {
          const auto action = beside.writer.intend({0, std::string(kCleanupAction), "/ck/step_10", 0, ""});
          beside.writer.acted({*action, true, "", 0});
        }) == "midwatch removed it before it was shipped");
}

TEST_CASE("what came from the store is not sent to it") {
  Beside beside;
  beside.receive(60);
  for (int i = 0; i < 20; ++i) (void)beside.task->turn(beside.state, true, beside.writer);
  CHECK(beside.store->calls == 0);
  CHECK(beside.all_shipped());
  beside.save(70);
  beside.turn_until([&] { return beside.store->calls == 1 && beside.all_shipped(); });
}

TEST_CASE("what its trainer deleted is not tried again until it is there again") {
  Beside beside;
  beside.save(10);
  beside.there.clear();
  for (int i = 0; i < 20; ++i) (void)beside.task->turn(beside.state, true, beside.writer);
  CHECK(beside.store->calls == 0);
  CHECK(beside.state.actions.empty());
  (void)beside.task->may_end(beside.state, 0);
  beside.turn_until([&] { return beside.task->may_end(beside.state, 0); });  // nothing is waited for
  beside.save(10);                                                           // anew
  beside.clock.pass(ShipTask::kLostFor);
  beside.turn_until([&] { return beside.all_shipped(); });
}

TEST_CASE("one that is not whole is tried again while the run goes on, and not waited for at its end") {
  Beside beside;
  beside.store->broken = true;
  beside.save(10);
  beside.turn_until([&] { return beside.failed(); });
  beside.clock.pass(ShipTask::kFirstWait);
  beside.turn_until([&] { return beside.store->calls == 2 && beside.failed(); });
  (void)beside.task->may_end(beside.state, 0);
  beside.turn_until([&] { return beside.task->may_end(beside.state, 0); });
  beside.store->broken = false;
  beside.clock.pass(Duration::seconds(10));
  beside.turn_until([&] { return beside.all_shipped(); });

  Beside down;
  down.store->fails = true;
  down.save(10);
  down.turn_until([&] { return down.failed(); });
  for (int i = 0; i < 20; ++i) {
    (void)down.task->turn(down.state, true, down.writer);
    CHECK_FALSE(down.task->may_end(down.state, 0));  // it may come back
  }
}

TEST_CASE("the watch ends when all is shipped, the logs last, or when its time is up") {
  Beside beside;
  beside.save(10);
  CHECK_FALSE(beside.task->may_end(beside.state, 0));
  beside.turn_until([&] { return beside.task->may_end(beside.state, 0); });
  CHECK(beside.all_shipped());
  const int logs = beside.store->logs;
  CHECK(logs >= 1);

  Beside slow;
  slow.store->blocks = true;
  slow.save(10);
  slow.turn_until([&] { return slow.store->calls == 1; });
  CHECK_FALSE(slow.task->may_end(slow.state, 1));
  slow.clock.pass(ShipTask::kAtStop);
  CHECK(slow.task->may_end(slow.state, 1));
  CHECK_FALSE(slow.task->may_end(slow.state, 0));  // nobody stops it
  CHECK(slow.task->may_end(slow.state, 2));
  slow.task->over(slow.state, slow.writer);
  CHECK(slow.failed());
  CHECK(contains(shipments(slow.state).front().text, "the next push goes on with it"));
}

TEST_CASE("what is not in the store at the end is named, and a failed try says what to do") {
  Beside beside;
  beside.store->fails = true;
  beside.store->hint = "Name a folder within it.";
  beside.save(20);
  beside.turn_until([&] { return beside.failed(); });
  CHECK(contains(beside.said.back(), "the store is down. Name a folder within it. Next try in 5.0 s"));
  beside.task->over(beside.state, beside.writer);
  REQUIRE_FALSE(beside.said.empty());
  const std::string left =
      "not in s3://bucket/run when midwatch ended: the checkpoint of step 20. midwatch checkpoint push ships one";
  CHECK(std::find(beside.said.begin(), beside.said.end(), left) != beside.said.end());

  Beside done;
  done.save(10);
  done.turn_until([&] { return done.all_shipped(); });
  done.task->over(done.state, done.writer);
  CHECK(done.said.size() == 1);  // that it is there
}

TEST_CASE("what a midwatch before was shipping is shipped again") {
  Beside beside;
  beside.save(10);
  (void)beside.writer.intend({0, std::string(kShip), "/ck/step_10", 0, ""}).ok();
  beside.turn_until([&] { return beside.all_shipped(); });
  CHECK(beside.state.actions.front().outcome == "midwatch was ended meanwhile; it is shipped again");
  CHECK(beside.store->calls == 1);
}

}  // namespace
}  // namespace mw
