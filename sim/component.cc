#include "sim/component.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "act/keeper/launch.h"
#include "act/supervise/supervised_component.h"
#include "base/checksum.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/components.h"
#include "core/event_codec.h"
#include "journal/journal.h"
#include "platform/durable.h"
#include "platform/fake/fake_disk.h"
#include "sim/supervised_world.h"

namespace mw::sim {
namespace {

using Health = event::ComponentSaw::Health;

constexpr std::string_view kFolder = "run/components/engine", kName = "engine";
constexpr int64_t kLongest = 20'000;  // ticks of half a second within which it is over
constexpr int64_t kKeeperLate = 4;    // ticks

class ComponentWorld {
 public:
  explicit ComponentWorld(uint64_t seed) : disk(seed), dice(seed * 6'700'417 + 5) {
    processes.dice = &dice;
    processes.on_signal = [this](const ProcessId& id, int) { check_signal(id); };
    stranger_ = processes.add(1, 0).info.id;
    crashes_ = dice.chance(0.2) ? 0 : 0.002 + 0.03 * dice.unit();
    sick_ = dice.chance(0.3) ? 0 : 0.01 * dice.unit();
    keeper_dies_ = dice.chance(0.5) ? 0 : 0.01;
    never_well_ = dice.chance(0.05);
  }

  Result<void> start_keeper(const std::string& folder) {
    const auto number = parse_int(folder.substr(folder.rfind('/') + 1));
    if (!number) return Error{Error::Code::kInvalid, "no such life", ""};
    if (!life_ || life_->number != *number) {
      if (*number != (life_ ? life_->number + 1 : 1)) wrong("lives do not count up");
      if (life_ && processes.find(life_->child) != nullptr) wrong("it is started beside itself");
      if (life_ && !meant()) wrong("it is restarted without a record in the journal");
      if (!wanted) wrong("it is started though the run is over");
      life_ = Life();
      life_->number = static_cast<int>(*number);
      life_->folder = folder;
      ++servers;
    } else if (processes.find(life_->keeper) != nullptr) {
      return {};  // the living one holds the lock
    }
    life_->keeper = processes.add(1, 0).info.id;
    life_->begun = false;
    processes.subreapers.insert(life_->keeper.pid);
    life_->begins_at = tick_ + static_cast<int64_t>(dice.below(kKeeperLate));
    return {};
  }

  /// Half a second passes.
  void pass() {
    clock.pass(Duration::seconds(0.5));
    disk.set_time(clock.now());
    processes.tick = ++tick_;
    std::vector<std::pair<ProcessId, int>> ending;
    for (const auto& [pid, one] : processes.table) {
      if (one.pending != 0 && tick_ >= one.ends_at) ending.emplace_back(one.info.id, one.pending);
    }
    for (const auto& [id, signal] : ending) life_&& id == life_->child ? end(-1, signal) : processes.gone(id);
    if (!life_) return;
    if (dice.chance(keeper_dies_) && life_->begun && processes.find(life_->keeper) != nullptr) {
      processes.gone(life_->keeper);
      life_->orphaned = true;
    }
    serve();
    keep();
  }

  /// What a question to it shows by now; nothing when nothing is new.
  std::optional<event::ComponentSaw> probe() {
    if (!life_ || !life_->spawned || life_->ended) return std::nullopt;
    const bool well = tick_ >= life_->well_at && !life_->sick && !never_well_;
    const Health health = well ? Health::kWell : life_->sick ? Health::kHalfDead : Health::kStarting;
    if (life_->reported == health) return std::nullopt;
    life_->reported = health;
    return event::ComponentSaw{std::string(kName), "engine",         health,           in_trouble(health),
                               "as it is asked",   "127.0.0.1:8000", life_->child.pid, 0};
  }
  void forget_probe() {
    if (life_) life_->reported.reset();
  }

  void wrong(const std::string& what) {
    if (problem.empty()) problem = what;
  }
  bool still() const { return !life_ || !life_->spawned || life_->ended; }
  int64_t tick() const { return tick_; }

  FakeDisk disk;
  FakeClock clock;
  SupervisedProcesses processes;
  Prng dice;
  std::string problem;
  std::vector<Event> journal;
  uint64_t servers = 0, failures = 0;
  bool wanted = true;

 private:
  struct Life {
    int number = 0;
    std::string folder;
    ProcessId keeper, child, helper;
    int64_t begins_at = 0, well_at = 0;
    bool begun = false, spawned = false, ended = false, orphaned = false, sick = false, recorded_end = false,
         done = false;
    int code = -1, signal = 0;
    std::optional<Health> reported;
  };

  /// As many restarts were recorded as there were lives before this one.
  bool meant() const {
    const auto restarts = std::count_if(journal.begin(), journal.end(), [](const Event& event) {
      const auto* intended = std::get_if<event::Intended>(&event.body);
      return intended != nullptr && intended->target == kName;
    });
    return restarts >= life_->number;
  }

  void check_signal(const ProcessId& id) {
    if (id == stranger_) wrong("a stranger's process was signalled");
    if (!life_ || life_->ended || !wanted) return;
    if (id == life_->child && !meant()) wrong("it was killed without a record in the journal");
  }

  void end(int code, int signal) {
    life_->ended = true;
    life_->code = code;
    life_->signal = signal;
    processes.gone(life_->child);
    if (dice.chance(0.5)) processes.gone(life_->helper);
  }

  void serve() {
    if (!life_->spawned || life_->ended) return;
    if (dice.chance(crashes_)) {
      ++failures;
      return end(1, 0);
    }
    if (!life_->sick && tick_ >= life_->well_at && dice.chance(sick_)) {
      life_->sick = true;
      ++failures;
    }
  }

  void keep() {
    Life& life = *life_;
    if (processes.find(life.keeper) == nullptr) return;
    if (!life.begun) {
      if (tick_ < life.begins_at) return;
      life.begun = true;
      put(record_keeping(life.keeper, "boot", clock.now()));
      if (life.spawned) return;
      life.spawned = true;
      life.child = processes.add(life.keeper.pid, 0).info.id;
      life.helper = processes.add(life.child.pid, life.child.pid).info.id;
      processes.find(life.child)->ignores_int = dice.chance(0.2);
      life.well_at = tick_ + static_cast<int64_t>(dice.below(30));
      put(record_started(life.child, clock.now()));
      return;
    }
    if (!life.ended || life.done) return;
    if (!std::exchange(life.recorded_end, true)) {
      Ending ending;
      ending.at = clock.now();
      ending.known = !life.orphaned;
      ending.code = life.orphaned ? -1 : life.code;
      ending.signal = life.orphaned ? 0 : life.signal;
      put(record_ended(ending));
    }
    if (!descendants(processes.all(), life.keeper.pid).empty()) return;
    put(record_done(clock.now()));
    life.done = true;
    processes.gone(life.keeper);
  }

  /// Keepers write to a disk that does not fail, from where it is copied to where midwatch sees it.
  void put(const std::string& line) {
    FakeDisk& own = records_.try_emplace(life_->folder).first->second;
    {
      auto record = Journal::open(own, cat(life_->folder, "/", kRecordFolder), nullptr);
      MW_CHECK(record.ok());
      (void)(*record)->append(line);
      MW_CHECK((*record)->sync().ok());
    }
    for (const std::string& path : own.paths()) disk.put(path, own.content(path));
  }

  std::optional<Life> life_;
  std::map<std::string, FakeDisk> records_;
  ProcessId stranger_;
  int64_t tick_ = 0;
  double crashes_ = 0, sick_ = 0, keeper_dies_ = 0;
  bool never_well_ = false;
};

/// An intent is durable, or the action is not done.
class ComponentWriter final : public EventWriter {
 public:
  ComponentWriter(ComponentWorld& world, State& state) : world_(world), state_(state) {}
  Result<uint32_t> intend(event::Intended intent) override {
    intent.id = state_.last_action + 1;
    auto file = world_.disk.open_append("run/journal");
    if (!file.ok()) return file.error();
    MW_TRY((*file)->append("x"));
    MW_TRY((*file)->sync());
    put(intent);
    return intent.id;
  }
  void acted(event::Acted outcome) override { put(std::move(outcome)); }
  Result<void> note(event::Note, Time) override { return {}; }
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::ComponentSaw&& saw) override { put(std::move(saw)); }

 private:
  void put(decltype(Event::body) body) {
    Event event{world_.clock.now(), {}, std::move(body)};
    fold(state_, event);
    if (!world_.disk.dead()) world_.journal.push_back(std::move(event));
  }
  ComponentWorld& world_;
  State& state_;
};

class ComponentRun {
 public:
  ComponentRun(uint64_t seed, bool aloud) : world_(seed), dice_(seed * 92'821 + 17), aloud_(aloud) {
    (void)world_.disk.make_folders(std::string(kFolder)).ok();
    spec_.name = spec_.kind = kName;
    spec_.command = {"serve"};
    spec_.folder = "/w";
    spec_.address = dice_.chance(0.8) ? "http://127.0.0.1:8000" : "";
    spec_.output = "engine.log";
    spec_.limits.restarts = static_cast<int>(dice_.below(5));
    spec_.limits.first_wait = Duration::seconds(1);
    spec_.limits.longest_wait = Duration::seconds(8);
    ends_at_ = static_cast<int64_t>(100 + dice_.below(600));
    mortal_ = dice_.chance(0.8);
  }

  ComponentVerdict run() {
    while (!over_ && world_.problem.empty() && world_.tick() < kLongest) {
      begin_watch();
      watch();
      ++verdict_.lives;
    }
    if (!over_) world_.wrong("it is not over in time");
    if (world_.problem.empty() && !world_.still()) world_.wrong("it is over, and its server lives");
    verdict_.wrong = world_.problem;
    verdict_.servers = world_.servers;
    for (const Event& event : world_.journal) {
      std::string line;
      encode_event(event, line);
      verdict_.digest = fnv1a(line, verdict_.digest + 1);
    }
    return verdict_;
  }

 private:
  void begin_watch() {
    world_.disk.set_faults({});
    world_.disk.process_died();
    for (uint64_t n = dice_.below(10); n > 0; --n) world_.pass();  // nobody watches
    state_ = {};
    for (const Event& event : world_.journal) fold(state_, event);
    world_.forget_probe();
    writer_ = std::make_unique<ComponentWriter>(world_, state_);
    auto opened = SupervisedComponent::open(
        {world_.disk, world_.clock, world_.processes,
         [this](const std::string& folder) {
           return world_.disk.dead() ? Result<void>(Error{Error::Code::kIo, "dead", ""}) : world_.start_keeper(folder);
         },
         [this](const std::string& path, std::string_view text) { return write_durably(world_.disk, path, text); },
         [this](const std::string& text) {
           if (aloud_) std::printf("%lld: %s\n", static_cast<long long>(world_.tick()), text.c_str());
         }},
        spec_, std::string(kFolder));
    if (!opened.ok()) return world_.wrong(cat("it cannot be reattached: ", opened.error().what));
    one_ = std::move(*opened);
    if (!mortal_) return;
    world_.disk.die_after(1 + dice_.below(40));
    const auto sometimes = [this] { return dice_.chance(0.3) ? 0.02 : 0; };
    world_.disk.set_faults({sometimes(), sometimes(), sometimes(), UINT64_MAX});
  }

  void watch() {
    while (world_.problem.empty() && !world_.disk.dead() && world_.tick() < kLongest) {
      if (auto saw = world_.probe(); saw && !spec_.address.empty()) {
        writer_->observed("host:components", std::move(*saw));
      }
      world_.wanted = world_.wanted && world_.tick() < ends_at_;
      const auto done = one_->turn(state_, world_.wanted, *writer_);
      if (world_.disk.dead()) return;
      if (one_->gave_up() && verdict_.given_up == 0) check_given_up();
      world_.wanted = world_.wanted && !one_->gave_up();
      if (done.ok() && !world_.wanted && one_->over()) {
        over_ = true;
        return;
      }
      if (mortal_ && dice_.chance(0.002)) return;  // killed between two changes
      world_.pass();
    }
  }

  void check_given_up() {
    verdict_.given_up = 1;
    if (world_.failures <= static_cast<uint64_t>(spec_.limits.restarts)) world_.wrong("it was given up too soon");
  }

  ComponentWorld world_;
  Prng dice_;
  ComponentSpec spec_;
  State state_;
  std::unique_ptr<ComponentWriter> writer_;
  std::unique_ptr<SupervisedComponent> one_;
  ComponentVerdict verdict_;
  int64_t ends_at_ = 0;
  bool aloud_, mortal_ = true, over_ = false;
};

}  // namespace

ComponentVerdict run_component_seed(uint64_t seed, bool aloud) { return ComponentRun(seed, aloud).run(); }

}  // namespace mw::sim
