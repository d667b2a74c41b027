#include "sim/fleet.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "act/fleet/beat.h"
#include "act/fleet/controller.h"
#include "act/vault/sealed.h"
#include "base/checksum.h"
#include "base/text.h"
#include "sim/fleet_cloud.h"

namespace mw::sim {
namespace {

using fleet::Control;
using fleet::Heartbeat;

constexpr int64_t kStart = 1'700'000'000;  // seconds since 1970, by the store's clock
constexpr int64_t kHours = 10;             // with faults
constexpr int64_t kCalmMinutes = 240;      // without any, at the end
constexpr int64_t kSilence = 15;           // minutes
constexpr uint64_t kLongestCheck = 40;     // calls after which most checks are over
constexpr uint64_t kWellUntilAlone = 5;    // checks that nothing disturbs, until a successor is given back
const std::string kPrefix = "team/run", kRunId = "0badcafe";

class World {
 public:
  World(uint64_t seed, bool aloud)
      : dice_(seed), aloud_(aloud), store_(seed), cloud_(seed * 3 + 1), books_(store_, kPrefix) {
    spec_.name = "sim";
    spec_.store = "fake://store/team/run";
    spec_.start = "true";
    spec_.limits.price_per_hour = 10;
    spec_.limits.spend = dice_.chance(0.3) ? 3 + static_cast<double>(dice_.below(20)) : 1000;
    spec_.limits.rents_per_hour = 1 + static_cast<int64_t>(dice_.below(4));
    spec_.limits.rents = 3 + static_cast<int64_t>(dice_.below(40));
    if (seed % 3 != 0) spec_.limits.ahead = Duration::seconds(60.0 * static_cast<double>(2 + seed % 20));
    cloud_.restless = seed % 2 == 0;
    last_step_ = 60 + static_cast<int64_t>(dice_.below(500));
    for (uint64_t i = 0; i < 1 + dice_.below(3); ++i) controllers_.push_back({cat("controller-", i), 0, false});
    cloud_.before_create = [this](const std::string& label) { check_create(label); };
    store_.changed_at = [this](const std::string& key) {
      if (key == books_.under("epoch.json")) check_books();
    };
    set_time();
  }

  FleetVerdict run() {
    person(true);
    while (cloud_.now < kHours * 60 && ok()) minute();
    cloud_.calm = true;
    const int64_t until = cloud_.now + kCalmMinutes;
    while (cloud_.now < until && ok()) minute();
    if (ok()) end_well();
    out_.digest = digest_;
    return out_;
  }

 private:
  struct Controller {
    std::string owner;
    int64_t due = 0;
    bool busy = false;
  };

  bool ok() const { return out_.wrong.empty(); }
  void wrong(const std::string& what) {
    if (ok()) out_.wrong = cat("at minute ", cloud_.now, ": ", what);
  }
  void say(const std::string& what) {
    digest_ = fnv1a(what, digest_);
    if (aloud_) std::printf("%5lld  %s\n", static_cast<long long>(cloud_.now), what.c_str());
  }

  void set_time() { store_.set_time(Time::from_seconds(static_cast<double>(kStart + cloud_.now * 60))); }

  // ---- time

  void minute() {
    ++cloud_.now;
    set_time();
    for (const auto& machine : cloud_.machines) live(*machine);
    check_trainers();
    check_successor();
    for (Controller& one : controllers_) {
      if (!one.busy && one.due <= cloud_.now && ok()) check(one);
    }
    if (!cloud_.calm && dice_.chance(0.002) && !nested_) person(false);
  }

  void person(bool launches) {
    Turn turn;
    const bool stops = !launches && dice_.chance(0.5);
    with_doors(turn, "person", [&](const fleet::ControllerDoors& doors, const fleet::ControllerPlan& plan) {
      const auto done = stops ? fleet::stop_run(doors, plan) : fleet::launch_run(doors, plan);
      say(cat("a person ", stops ? "stops" : "launches", " it: ", done.ok() && *done ? "yes" : "no"));
    });
  }

  // ---- machines

  void live(CloudMachine& machine) {
    if (machine.exists(cloud_.now) && cloud_.now >= machine.vanishes) {
      say(cat(machine.id, " vanishes"));
      ++out_.lost;
      cloud_.end(machine);
    }
    if (!machine.runs(cloud_.now)) {
      machine.training = false;
      return;
    }
    if (machine.training && !machine.finished) ++machine.step;
    if (machine.step >= last_step_) machine.finished = true;
    if (!machine.reaches_store(cloud_.now)) return;
    if (machine.training) shipped_ = std::max(shipped_, machine.step - machine.step % 5);
    if (machine.finished && machine.training) shipped_ = machine.step;
    beat(machine);
  }

  void beat(CloudMachine& machine) {
    const auto label = fleet::parse_label(machine.label);
    Heartbeat beat;
    beat.epoch = label->epoch;
    beat.machine = label->nonce;
    const bool leaves = machine.leaving(cloud_.now);
    if (leaves) machine.training = false;
    if (machine.notice <= cloud_.now && cloud_.now <= machine.announced) {
      beat.leaves = Duration::seconds(60.0 * static_cast<double>(machine.announced - cloud_.now));
    }
    beat.phase = machine.unfit      ? Heartbeat::Phase::kUnfit
                 : machine.finished ? Heartbeat::Phase::kFinished
                 : leaves           ? Heartbeat::Phase::kPreempted
                 : machine.training ? Heartbeat::Phase::kTraining
                                    : Heartbeat::Phase::kStarting;
    if (machine.training) beat.step = machine.step;
    beat.saved = beat.shipped = shipped_;
    beat.at = Time::from_seconds(static_cast<double>(kStart + 60 * cloud_.now) +
                                 3600.0 * static_cast<double>(machine.id.size() % 3));
    if (!cloud_.calm && dice_.chance(0.05)) store_.fail_at(dice_.below(3), FakeStore::Fault::kBefore, false);
    const auto standing = fleet::beat(books_, store_, kPrefix, beat);
    store_.heal();
    if (!standing.ok()) return;
    machine.last_beat = cloud_.now;
    if (*standing == fleet::Standing::kWaits) {
      ++out_.waited;
      if (machine.training) wrong(cat(machine.id, " trains and is a successor"));
      machine.waited = true;
    } else if (*standing == fleet::Standing::kFenced) {
      if (machine.training) say(cat(machine.id, " is fenced off and ends its trainer"));
      if (!machine.fenced) ++out_.fenced;
      machine.training = false;
      machine.fenced = true;
    } else if (!machine.training && !machine.unfit && !machine.fenced && !machine.leaving(cloud_.now)) {
      if (machine.waited) ++out_.followed;
      machine.training = true;
      machine.step = shipped_;
      say(cat(machine.id, " trains from step ", shipped_));
    }
  }

  // ---- controllers

  template <typename Do>
  void with_doors(Turn& turn, const std::string& owner, const Do& act) {
    TurnStore store(store_, turn);
    fleet::FleetStore books(store, kPrefix);
    std::vector<std::unique_ptr<fleet::Provider>> providers;
    providers.push_back(std::make_unique<CloudProvider>(cloud_, turn));
    const fleet::ControllerDoors doors{books, providers, [this] { return hex_of(dice_.next()); }};
    const fleet::ControllerPlan plan{spec_, kRunId, {}, owner};
    act(doors, plan);
  }

  Turn disturbed() {
    Turn turn;
    if (cloud_.calm || dice_.chance(0.4)) return turn;
    constexpr std::array kHow = {Turn::How::kDies, Turn::How::kSleeps, Turn::How::kLosesRequest,
                                 Turn::How::kLosesAnswer};
    turn.how = kHow[dice_.below(4)];
    turn.at = dice_.below(kLongestCheck);
    turn.sleep = [this] {
      ++out_.slept;
      const bool was = nested_;
      nested_ = true;
      const int64_t until = cloud_.now + 1 + static_cast<int64_t>(dice_.below(dice_.chance(0.5) ? 8 : 120));
      while (cloud_.now < until && ok()) minute();
      nested_ = was;
    };
    return turn;
  }

  void check(Controller& controller) {
    controller.busy = true;
    ++out_.checks;
    Turn turn = disturbed();
    Turn* const before = acting_;
    acting_ = &turn;
    with_doors(turn, controller.owner, [&](const fleet::ControllerDoors& doors, const fleet::ControllerPlan& plan) {
      const auto result = fleet::check_run(doors, plan);
      if (!result.ok()) {
        ++out_.crashed;
        say(cat(controller.owner, " fails: ", result.error().what));
        return;
      }
      if (turn.how == Turn::How::kWell) ++well_;
      for (const std::string& done : result->done) say(cat(controller.owner, " ", done));
      waits_ = result->waits;
      verdict_ = result->verdict.kind;
      if (turn.how == Turn::How::kWell && !result->waits.empty() && aloud_) say(cat("waits: ", result->waits));
    });
    acting_ = before;
    controller.busy = false;
    controller.due = cloud_.now + 4 + static_cast<int64_t>(dice_.below(12));
  }

  // ---- what must hold

  /// What lies in the store, whatever fails at its doors.
  Control books() const {
    const auto& objects = store_.objects();
    const auto found = objects.find(books_.under("epoch.json"));
    if (found == objects.end()) return {};
    const auto body = vault::unsealed("midwatch.fleet-epoch/1", found->second.bytes);
    auto control = body.ok() ? fleet::parse_control(*body) : Result<Control>(body.error());
    return control.ok() ? std::move(*control) : Control{};
  }

  void check_create(const std::string& text) {
    ++out_.rented;
    const auto label = fleet::parse_label(text);
    if (!label) return wrong("a machine was rented without a label");
    if (!nonces_.insert(label->nonce).second) return wrong("one intent was carried out twice");
    const Control now = books();
    const auto intent = std::find_if(now.rentals.begin(), now.rentals.end(),
                                     [&](const fleet::Rental& one) { return one.nonce == label->nonce; });
    if (intent == now.rentals.end() || intent->epoch != label->epoch)
      return wrong("a machine was rented without an intent");
    bool journalled = false;
    for (const auto& [key, object] : store_.objects()) {
      journalled = journalled || (key.starts_with(books_.under("journal/")) && contains(object.bytes, label->nonce));
    }
    if (!journalled) return wrong("an intent is not in the journal");
    for (const auto& one : cloud_.machines) {
      const auto refused = std::find_if(now.rentals.begin(), now.rentals.end(), [&](const fleet::Rental& rental) {
        return rental.refused && fleet::parse_label(one->label)->nonce == rental.nonce;
      });
      if (refused != now.rentals.end()) return wrong(cat(one->id, " is there, and counts as refused"));
    }
    if (acting_ != nullptr && acting_->slept) return;  // whoever sleeps between the last question and the call
    check_beside(now, *label);
    check_money(now);
    int64_t all = 0, lately = 0;  // what the cloud itself refused was none
    for (const fleet::Rental& one : now.rentals) {
      const bool late = one.asked.seconds() > static_cast<double>(kStart + (cloud_.now - 60) * 60);
      all += one.refused ? 0 : 1;
      lately += one.refused || !late ? 0 : 1;
    }
    if (all > spec_.limits.rents) wrong("more machines were rented than allowed");
    if (lately > spec_.limits.rents_per_hour) wrong("more machines were rented within an hour than allowed");
  }

  /// Only a successor is rented beside a machine, and only one is being rented.
  void check_beside(const Control& now, const fleet::Label& label) {
    const bool ahead = now.successor() != nullptr && now.successor()->nonce == label.nonce;
    for (const auto& one : cloud_.machines) {
      const auto other = fleet::parse_label(one->label);
      if (!one->exists(cloud_.now) || stale(*other)) continue;
      const bool followed = ahead && now.current()->nonce == other->nonce;
      if (!followed) wrong(cat("a machine was rented beside ", one->id));
    }
    if (ahead && spec_.limits.ahead.ns == 0) wrong("a successor was rented that the specification does not allow");
    if (ahead && now.phase == Control::Phase::kRenting) wrong("two machines are being rented");
  }

  void check_money(const Control& now) {
    const double left = spec_.limits.spend - cloud_.cost();
    const double machines = now.successor() == nullptr ? 1 : 2;
    if (left + 1e-6 < machines * cloud_.price * spec_.limits.reserve.seconds() / 3600 && late_.empty()) {
      wrong("a machine was rented beyond the limit of spending");
    }
  }

  /// May it have been rented by whoever slept until its epoch was over?
  bool stale(const fleet::Label& label) const { return late_.count(label.nonce) != 0; }
  void check_books() {
    const Control now = books();
    if (now.epoch < before_.epoch) wrong("an epoch went back");
    if (now.serial != before_.serial + 1) wrong("somebody's change was written over");
    const bool rests =
        now.phase == Control::Phase::kStopped || (now.phase == Control::Phase::kEnding && now.after != "again");
    if (rests && now.successor() != nullptr && now.next != Control::Phase::kEnding) {
      wrong("the run ends, and its successor does not");
    }
    if (now.epoch > before_.epoch && now.phase == Control::Phase::kEnding && now.after == "again") check_fence(now);
    // Only machines whose intent may be followed by sleep are excused from being rented late.
    const bool may_sleep = acting_ != nullptr && acting_->how == Turn::How::kSleeps;
    if (now.rentals.size() > before_.rentals.size() && may_sleep) late_.insert(now.rentals.back().nonce);
    before_ = now;
    say(cat("epoch ", now.epoch, " ", fleet::word_of(now.phase), ": ", now.why));
  }

  /// Nobody gives up a machine that was heard a moment ago and says that all is well.
  void check_fence(const Control& now) {
    if (acting_ == nullptr || acting_->slept) return;
    if (now.current() == nullptr) return;
    const fleet::Rental& rental = *now.current();
    for (const auto& one : cloud_.machines) {
      if (one->id != rental.instance || !one->exists(cloud_.now) || !one->runs(cloud_.now) || one->unfit) continue;
      const int64_t age = cloud_.now - one->last_beat;
      if (one->training && one->last_beat >= 0 && age < kSilence) {
        wrong(cat(one->id, " was given up, and was heard ", age, " minutes ago: ", now.why));
      }
    }
  }

  void check_trainers() {
    std::map<int64_t, std::string> by_epoch;
    int training = 0;
    const int64_t epoch = books().epoch;
    for (const auto& one : cloud_.machines) {
      if (!one->training || !one->runs(cloud_.now)) continue;
      const auto label = fleet::parse_label(one->label);
      if (!one->finished && !stale(*label)) ++training;
      const auto [other, first] = by_epoch.emplace(label->epoch, one->id);
      if (!first) wrong(cat(one->id, " and ", other->second, " train in one epoch"));
      const bool old = label->epoch < epoch && one->reaches_store(cloud_.now);
      one->fenced_at = old ? std::min(one->fenced_at, cloud_.now) : INT64_MAX;
      // A heartbeat may be lost now and then.
      if (old && cloud_.now - one->fenced_at > 8) wrong(cat(one->id, " trains on in an old epoch"));
    }
    if (training > 1) wrong("a machine began to train before the one before it was gone");
  }

  /// Nobody pays for two machines longer than it was said, as far as controllers were awake: each check may sleep for
  /// two hours, and the next one, too, so that those count which nothing disturbed.
  void check_successor() {
    const Control now = books();
    const fleet::Rental* const successor = now.successor();
    const bool beside = successor != nullptr && now.phase == Control::Phase::kRented;
    const double age = beside ? (kStart + static_cast<double>(cloud_.now) * 60 - successor->asked.seconds()) / 60 : 0;
    if (!beside || age * 60 <= 2 * spec_.limits.ahead.seconds()) {
      well_in_time_ = well_;
    } else if (well_ - well_in_time_ > kWellUntilAlone) {
      wrong(cat("a successor stands beside its machine for ", age, " minutes"));
    }
  }

  void end_well() {
    const Control now = books();
    int64_t there = 0;
    for (const auto& one : cloud_.machines) there += one->exists(cloud_.now) ? 1 : 0;
    const bool holds = now.phase == Control::Phase::kRented || now.phase == Control::Phase::kRenting ||
                       now.phase == Control::Phase::kEnding;
    if (there > (holds ? 1 : 0) + (now.successor() != nullptr ? 1 : 0))
      wrong(cat(there, " machines are there, and the run is ", fleet::word_of(now.phase)));
    if (now.successor() != nullptr) wrong("a successor is kept, and nothing fails");
    if (now.outcome == "finished") {
      ++out_.finished;
      if (shipped_ < last_step_) wrong("it is finished and its last checkpoint is not in the store");
      return;
    }
    if (now.phase == Control::Phase::kStopped) {
      if (now.outcome.empty()) wrong("it stopped, and says no outcome");
      ++out_.waiting;
      return;
    }
    const bool works = verdict_ == fleet::Verdict::Kind::kHealthy || verdict_ == fleet::Verdict::Kind::kStarting;
    if (waits_.empty() && !works)
      wrong(cat("it neither works nor says what it waits for, and is ", fleet::word_of(now.phase)));
    if (!waits_.empty()) ++out_.waiting;
    const double books_cost = fleet::cost_of(now, Time::from_seconds(static_cast<double>(kStart + cloud_.now * 60)));
    if (late_.empty() && books_cost + 1e-6 < cloud_.cost()) wrong("the books say less than it cost");
  }

  Prng dice_;
  const bool aloud_;
  FakeStore store_;
  Cloud cloud_;
  fleet::FleetStore books_;
  fleet::FleetSpec spec_;
  std::vector<Controller> controllers_;
  Turn* acting_ = nullptr;  ///< whose call it is now
  Control before_;
  std::set<std::string> nonces_, late_;
  std::string waits_;
  fleet::Verdict::Kind verdict_ = fleet::Verdict::Kind::kNone;
  int64_t last_step_ = 0, shipped_ = 0;
  uint64_t well_ = 0;          ///< checks that nothing disturbed
  uint64_t well_in_time_ = 0;  ///< of these, before a successor stood beside its machine for too long
  bool nested_ = false;
  uint64_t digest_ = 0;
  FleetVerdict out_;
};

}  // namespace

FleetVerdict run_fleet_seed(uint64_t seed, bool aloud) { return World(seed, aloud).run(); }

}  // namespace mw::sim
