#include "sim/goodput_midwatch.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "act/fleet/beat.h"
#include "act/fleet/controller.h"
#include "base/checksum.h"
#include "base/text.h"
#include "platform/fake/fake_store.h"

namespace mw::sim::goodput {
namespace {

using Mode = Trainer::Mode;
using Phase = fleet::Control::Phase;

enum Draw : uint64_t { kDetails = 20 };

constexpr double kEpoch = 1'700'000'000;  // seconds since 1970, by the store's clock
constexpr double kBeatEvery = 60;
constexpr double kCutFor = 600;     // the mean of a network's absence
constexpr double kGrace = 30;       // a trainer that hangs is killed after it
constexpr int64_t kSaveIsNear = 2;  // steps: as core/supervise/breaker.h has it
constexpr double kLaunchAgain = 300;
constexpr double kAhead = 600;  // limits.ahead, where midwatch may act
constexpr double kTurn = 10;    // between two questions of a machine that waits for its turn
const std::string kPrefix = "team/run", kRunId = "0badcafe";

Time at(double now) { return Time::from_seconds(kEpoch + now); }

/// Machines as the scene has them.
class SceneProvider final : public fleet::Provider {
 public:
  explicit SceneProvider(const Costs& costs) : costs_(costs) {}
  const std::string& name() const override { return name_; }

  Result<std::vector<fleet::Offer>> search(const fleet::MachineWants&) override {
    fleet::Offer offer;
    offer.id = "offer";
    offer.host = cat("host-", labels_.size());
    offer.provider = name_;
    offer.price = costs_.price;
    return std::vector<fleet::Offer>{offer};
  }

  Result<fleet::Instance> create(const fleet::Offer& offer, const fleet::Order& order) override {
    MW_CHECK(scene->rent(false, true) == labels_.size());
    labels_.push_back(order.label);
    hosts_.push_back(offer.host);
    stopped_.push_back(false);
    rented = true;
    return seen(labels_.size() - 1);
  }

  Result<fleet::Listing> list() override {
    fleet::Listing out;
    for (size_t i = 0; i < labels_.size(); ++i) {
      if (stopped_[i] || scene->machines[i].exists(scene->trainer.now())) out.push_back(seen(i));
    }
    return out;
  }

  Result<void> destroy(const fleet::Instance& instance) override {
    for (size_t i = 0; i < labels_.size(); ++i) {
      if (instance.id != id(i)) continue;
      stopped_[i] = false;
      scene->give_back(i);
    }
    return {};
  }

  void outbid(size_t machine) { stopped_.at(machine) = true; }
  const std::string& label(size_t machine) const { return labels_.at(machine); }

  Scene* scene = nullptr;
  bool rented = false;  ///< since somebody last asked

 private:
  static std::string id(size_t machine) { return cat("i-", machine); }

  fleet::Instance seen(size_t machine) const {
    const Machine& one = scene->machines.at(machine);
    fleet::Instance out;
    out.id = id(machine);
    out.label = labels_[machine];
    out.host = hosts_[machine];
    out.price = costs_.price;
    out.state = stopped_[machine]                   ? fleet::InstanceState::kStopped
                : scene->trainer.now() >= one.ready ? fleet::InstanceState::kRunning
                                                    : fleet::InstanceState::kProvisioning;
    return out;
  }

  const Costs& costs_;
  const std::string name_ = "cloud";
  std::vector<std::string> labels_, hosts_;
  std::vector<bool> stopped_;
};

class Midwatch final : public Policy {
 public:
  Midwatch(const World& world, const Episodes& episodes, bool full)
      : world_(world), costs_(world.costs()), episodes_(episodes), full_(full), store_(1), books_(store_, kPrefix) {
    spec_.name = "sim";
    spec_.store = "fake://store/team/run";
    spec_.start = "true";
    spec_.limits.price_per_hour = 2 * costs_.price;
    spec_.limits.spend = 1e6;
    spec_.limits.rents = fleet::kMostRents;
    if (episodes.may_act()) spec_.limits.ahead = Duration::seconds(kAhead);
    auto provider = std::make_unique<SceneProvider>(costs_);
    provider_ = provider.get();
    providers_.push_back(std::move(provider));
  }

  void begin(Scene& scene) override {
    provider_->scene = &scene;
    store_.set_time(at(0));
    launch(scene);
    check(scene);
  }

  double wakes() const override {
    return std::min({check_at_, beat_at_, start_at_, break_at_, approved_at_, repaired_at_, look_at_});
  }

  /// Of the heartbeats that were left out the last one matters now.
  void before(Scene& scene) override {
    const double now = scene.trainer.now();
    if (beat_at_ < kNever || !up(scene) || now < cut_until_) return;
    const double last = boots_ + kBeatEvery * std::floor((now - boots_) / kBeatEvery);
    if (last > last_beat_) beat(scene, last);
  }

  void struck(Scene& scene, const Strike& strike) override {
    const double now = scene.trainer.now();
    if (strike.fault == Fault::kMachineLost || strike.fault == Fault::kOutbid) {
      if (!scene.has_machine() && boots_ < kNever) {
        if (strike.fault == Fault::kOutbid) provider_->outbid(scene.own);
        forget_machine();
        stir(now);
      }
      return;
    }
    if (strike.fault == Fault::kCut && up(scene)) {
      cut_until_ = std::max(cut_until_, now - kCutFor * std::log(1 - strike.u));
      return stir(now);
    }
    const Trainer& trainer = scene.trainer;
    const bool affected = trainer.mode() != Mode::kNone && trainer.in_trouble() && break_at_ >= kNever && !asked();
    if (!affected) return;
    struck_step_ = trainer.step();
    episode_ = episodes_.of(strike.fault, strike.u, strike.v, full_);
    if (episode_.decides >= kNever) return;
    if (!episode_.asks) {
      break_at_ = now + episode_.decides + (trainer.mode() == Mode::kStuck ? kGrace : 0);
      return;
    }
    asked_at_ = now + episode_.decides;
    answered_at_ = world_.answers(asked_at_) + costs_.approve;
    approved_at_ = std::min(answered_at_, now + episode_.unanswered + kGrace);
  }

  void turn(Scene& scene) override {
    Trainer& trainer = scene.trainer;
    const double now = trainer.now();
    if (trainer.exited()) ends_by_itself(scene);
    if (now >= break_at_ || now >= approved_at_) {
      if (now >= answered_at_) ++trainer.books.approvals;
      break_at_ = approved_at_ = answered_at_ = asked_at_ = kNever;
      if (trainer.mode() != Mode::kNone) {
        trainer.stop();
        follow(scene, episode_.outcome, 0);
      }
    }
    const bool pauses = asked() && now >= asked_at_ && trainer.poisoned() && trainer.mode() == Mode::kTraining;
    if (pauses && costs_.every - trainer.step() % costs_.every <= kSaveIsNear) trainer.pause();
    if (now >= start_at_ && up(scene) && !has_turn(scene)) start_at_ = now + kTurn + costs_.upload;
    if (now >= start_at_) {
      start_at_ = kNever;
      if (up(scene) && trainer.mode() == Mode::kNone) trainer.start(trainer.newest_whole(true), costs_.start);
    }
    look(scene);
    if (now >= repaired_at_) repair(scene);
    if (now >= beat_at_) {
      beat_at_ += kBeatEvery;
      if (up(scene) && now >= cut_until_) beat(scene, now);
    }
    if (now >= check_at_) check(scene);
  }

  bool helpless(const Scene& scene) const override {
    if (asked()) return scene.trainer.now() >= asked_at_;
    return repaired_at_ < kNever || unseen(scene);
  }

 private:
  bool asked() const { return approved_at_ < kNever; }
  /// Its midwatch lives.
  bool up(const Scene& scene) const { return scene.has_machine() && scene.trainer.now() >= boots_; }
  /// Something is wrong that midwatch does not see at all: a person may.
  bool unseen(const Scene& scene) const {
    const Trainer& trainer = scene.trainer;
    return trainer.mode() != Mode::kNone && trainer.in_trouble() && !asked() && break_at_ >= kNever;
  }

  void look(Scene& scene) {
    if (repaired_at_ < kNever || !unseen(scene)) {
      look_at_ = kNever;
      return;
    }
    const double now = scene.trainer.now();
    if (look_at_ >= kNever) look_at_ = world_.next_look(now);
    if (now < look_at_) return;
    look_at_ = kNever;
    repaired_at_ = now + costs_.hands_on;
  }

  // ---- the machine's own midwatch

  /// The process ended, and midwatch had no part in that.
  void ends_by_itself(Scene& scene) {
    Trainer& trainer = scene.trainer;
    const Fault fault = trainer.exited_by();
    struck_step_ = trainer.step();
    trainer.stop();
    break_at_ = approved_at_ = answered_at_ = asked_at_ = kNever;
    const auto draws = static_cast<uint64_t>(2 * trainer.books.restarts);
    const Episode seen = episodes_.of(fault, world_.draw(kDetails, draws), world_.draw(kDetails, draws + 1), full_);
    follow(scene, seen.outcome, seen.decides);
  }

  void follow(Scene& scene, AttemptOutcome outcome, double after) {
    const Trainer& trainer = scene.trainer;
    const double now = trainer.now();
    const int64_t from = trainer.resumed_at();
    outcome.lasted = Duration::seconds(now - trainer.started());
    outcome.resumed_at = from > 0 ? from : kNoStep;
    outcome.first_step = trainer.step() > from ? from + 1 : kNoStep;
    outcome.last_step = trainer.step() > from ? trainer.step() : kNoStep;
    outcome.last_checkpoint = trainer.last_saved() > 0 ? trainer.last_saved() : kNoStep;
    outcome.onset = outcome.tripped ? struck_step_ + 1 : kNoStep;
    for (const Checkpoint& one : trainer.saved()) {
      if (!one.tainted || outcome.suspect != kNoStep) continue;
      outcome.suspect = one.step;
      outcome.can_roll_back = true;
    }
    history_.push_back(outcome);
    const RestartDecision decision = after_end(history_, episodes_.spec().limits);
    if (decision.restart) {
      if (outcome.made_room && outcome.reaction == "free-space-then-resume") scene.trainer.make_room();
      start_at_ = now + after + decision.wait.seconds();
      return;
    }
    stopped_ = true;
    repaired_at_ = world_.answers(now + after) + costs_.hands_on;
    stir(now);
  }

  void repair(Scene& scene) {
    Trainer& trainer = scene.trainer;
    repaired_at_ = kNever;
    if (!scene.has_machine() || boots_ >= kNever) {
      if (stopped_ && !launch(scene)) {
        repaired_at_ = trainer.now() + kLaunchAgain;  // its machine is just being given back
        return;
      }
      stopped_ = false;
      ++trainer.books.repairs;
      return stir(trainer.now());
    }
    ++trainer.books.repairs;
    if (trainer.mode() != Mode::kNone) trainer.stop();
    trainer.make_room();
    history_.clear();
    stopped_ = false;
    trainer.start(trainer.newest_whole(true), costs_.start);
    stir(trainer.now());
  }

  void forget_machine() {
    beat_at_ = start_at_ = break_at_ = approved_at_ = answered_at_ = asked_at_ = boots_ = kNever;
    if (!stopped_) repaired_at_ = kNever;
  }

  // ---- heartbeats and the controller

  /// From now on heartbeats and checks matter again.
  void stir(double now) {
    if (check_at_ >= kNever) check_at_ = costs_.check * (std::floor(now / costs_.check) + 1);
    if (beat_at_ >= kNever && boots_ < kNever)
      beat_at_ = boots_ + kBeatEvery * (std::floor((now - boots_) / kBeatEvery) + 1);
  }

  void beat(Scene& scene, double when) {
    const Trainer& trainer = scene.trainer;
    const auto label = fleet::parse_label(provider_->label(scene.own));
    fleet::Heartbeat beat;
    beat.epoch = label->epoch;
    beat.machine = label->nonce;
    beat.phase = stopped_           ? fleet::Heartbeat::Phase::kFailed
                 : trained(trainer) ? fleet::Heartbeat::Phase::kTraining
                                    : fleet::Heartbeat::Phase::kStarting;
    if (trained(trainer)) beat.step = trainer.step();
    beat.at = at(when);
    store_.set_time(at(when));
    last_beat_ = when;
    const auto standing = fleet::beat(books_, store_, kPrefix, beat);
    MW_CHECK(standing.ok());
    if (*standing == fleet::Standing::kFenced && trainer.mode() != Mode::kNone) scene.trainer.stop();
  }

  /// A successor fetches nothing before the machine before it is gone.
  bool has_turn(const Scene& scene) {
    const auto label = fleet::parse_label(provider_->label(scene.own));
    const auto held = books_.control();
    MW_CHECK(label && held.ok() && held->control);
    return !may_wait(*held->control, label->epoch, label->nonce);
  }

  bool trained(const Trainer& trainer) {
    const bool now = trainer.mode() == Mode::kTraining || trainer.mode() == Mode::kSaving;
    return ever_trained_ = ever_trained_ || now;
  }

  template <typename Do>
  auto with_doors(const Do& act) {
    const fleet::ControllerDoors doors{books_, providers_, [this] { return hex_of(fnv1a(std::to_string(++nonces_))); }};
    const fleet::ControllerPlan plan{spec_, kRunId, {}, "controller"};
    return act(doors, plan);
  }

  bool launch(Scene& scene) {
    store_.set_time(at(scene.trainer.now()));
    const auto done = with_doors([](const auto& doors, const auto& plan) { return fleet::launch_run(doors, plan); });
    MW_CHECK(done.ok());
    return *done;
  }

  void check(Scene& scene) {
    const double now = scene.trainer.now();
    store_.set_time(at(now));
    provider_->rented = false;
    const auto result = with_doors([](const auto& doors, const auto& plan) { return fleet::check_run(doors, plan); });
    MW_CHECK(result.ok());
    if (!scene.has_machine()) forget_machine();
    if (provider_->rented) take_new_machine(scene);
    const fleet::Rental* const rental = result->control.current();
    const bool calm = result->control.phase == Phase::kRented && result->done.empty() && result->waits.empty() &&
                      result->verdict.kind == fleet::Verdict::Kind::kHealthy && rental->began.known() && !stopped_ &&
                      result->control.successor() == nullptr && boots_ < kNever &&
                      now >= cut_until_;  // a machine that just went still looks healthy
    const bool rests = result->control.phase == Phase::kStopped;
    check_at_ = !full_ && (calm || rests) ? kNever : costs_.check * (std::floor(now / costs_.check) + 1);
    if (!full_ && calm) beat_at_ = kNever;
  }

  void take_new_machine(Scene& scene) {
    forget_machine();
    history_.clear();
    stopped_ = ever_trained_ = false;
    cut_until_ = 0;
    last_beat_ = -1;
    boots_ = scene.ready();
    if (boots_ >= kNever) return;
    beat_at_ = boots_;
    start_at_ = scene.own == 0 ? boots_ : boots_ + costs_.upload;  // its first checkpoint is fetched
  }

  const World& world_;
  const Costs& costs_;
  const Episodes& episodes_;
  const bool full_;
  FakeStore store_;
  fleet::FleetStore books_;
  fleet::FleetSpec spec_;
  std::vector<std::unique_ptr<fleet::Provider>> providers_;
  SceneProvider* provider_ = nullptr;
  std::vector<AttemptOutcome> history_;  ///< of attempts on this machine
  Episode episode_;
  int64_t struck_step_ = 0;
  uint64_t nonces_ = 0;
  double boots_ = kNever, cut_until_ = 0, last_beat_ = -1;
  double check_at_ = kNever, beat_at_ = kNever, start_at_ = kNever, break_at_ = kNever, asked_at_ = kNever,
         answered_at_ = kNever,  // by a person; approved_at_: or by nobody in time
      approved_at_ = kNever, repaired_at_ = kNever, look_at_ = kNever;
  bool stopped_ = false, ever_trained_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_midwatch(const World& world, const Episodes& episodes, bool full) {
  return std::make_unique<Midwatch>(world, episodes, full);
}

}  // namespace mw::sim::goodput
