#include "sim/goodput_policies.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace mw::sim::goodput {
namespace {

enum Draw : uint64_t { kListing = 10, kBlind };

using Mode = Trainer::Mode;

constexpr double kLook = 10 * kMinute;
constexpr double kStale = 141 * kMinute;  // without a step at the metrics service: stalled
constexpr double kListingFails = 0.01;    // of the provider's answers
constexpr int kLoop = 2;                  // processes in a row that saved nothing: a loop
constexpr double kBlindFor = 3 * kHour;   // at most; evenly spread

constexpr Rules make_nothing() {
  Rules rules;
  rules.name = "nothing";
  return rules;
}

constexpr Rules make_retry() {
  Rules rules;
  rules.name = "retry-loop";
  rules.exit = 10;
  return rules;
}

constexpr Rules make_supervisord() {
  Rules rules;
  rules.name = "supervisord";
  rules.exit = 60;  // RestartSec of the report's training.service
  rules.gives_up = 5;
  rules.window = 600;
  return rules;
}

constexpr Rules make_controller() {
  Rules rules = make_supervisord();
  rules.name = "controller";
  rules.looks = true;
  return rules;
}

constexpr Rules make_robustrl() {
  Rules rules;
  rules.name = "robustrl-like";
  rules.exit = 5;
  rules.engine_dead = rules.engine_grey = 60;
  rules.hang = 300;
  rules.machine = 60;
  rules.engine_alone = rules.whole = true;
  rules.start = 180 / 1.6;
  rules.every = 1;
  return rules;
}

constexpr Rules make_no_delay() {
  Rules rules;
  rules.name = "no-delay";
  rules.exit = rules.engine_dead = rules.engine_grey = rules.hang = rules.non_finite = rules.machine = 0;
  rules.whole = rules.clean = rules.makes_room = true;
  return rules;
}

constexpr Rules make_saboteur() {
  Rules rules = make_retry();
  rules.name = "saboteur";
  rules.exit = 2 * kHour;
  return rules;
}

constexpr Rules kAll[] = {make_nothing(),  make_retry(),    make_supervisord(), make_controller(),
                          make_robustrl(), make_no_delay(), make_saboteur()};

class Ruled final : public Policy {
 public:
  Ruled(const World& world, const Rules& rules) : world_(world), costs_(world.costs()), rules_(rules) {}

  void begin(Scene& scene) override {
    scene.rent(false);
    start_at_ = 0;
    if (rules_.looks) look_at_ = kLook * world_.draw(kListing, 0);
  }

  double wakes() const override {
    return std::min({start_at_, end_at_, engine_at_, rent_at_, person_at_, repaired_at_, look_at_});
  }

  void struck(Scene& scene, const Strike& strike) override {
    const double now = scene.trainer.now();
    if (strike.fault == Fault::kMachineLost || strike.fault == Fault::kOutbid) {
      if (scene.own < scene.machines.size() && scene.machines[scene.own].ended == now) lose(scene);
      return;
    }
    if (strike.fault == Fault::kBlindMonitor) blind_ = {now, now + kBlindFor * strike.u};
    if (!scene.trainer.in_trouble() || scene.trainer.mode() == Mode::kNone) return;
    const double after = strike.fault == Fault::kEngineDead   ? rules_.engine_dead
                         : strike.fault == Fault::kEngineGrey ? rules_.engine_grey
                         : strike.fault == Fault::kHang       ? rules_.hang
                         : strike.fault == Fault::kNonFinite  ? rules_.non_finite
                                                              : kNever;
    if (after >= kNever) return;
    const bool engine = strike.fault == Fault::kEngineDead || strike.fault == Fault::kEngineGrey;
    if (engine && rules_.engine_alone) {
      engine_at_ = std::min(engine_at_, now + after + costs_.engine);
    } else {
      end_at_ = std::min(end_at_, now + after);
    }
  }

  void turn(Scene& scene) override {
    Trainer& trainer = scene.trainer;
    const double now = trainer.now();
    if (trainer.exited()) see_exit(scene);
    if (now >= engine_at_) {
      engine_at_ = kNever;
      trainer.unstick();
    }
    if (now >= end_at_) {
      end_at_ = kNever;
      if (trainer.mode() != Mode::kNone && trainer.in_trouble()) {
        trainer.stop();
        start_at_ = now;
      }
    }
    if (now >= rent_at_) rent(scene);
    if (now >= look_at_) look(scene);
    if (now >= start_at_) start(scene);
    call_person(scene);
  }

  /// Something is wrong, and no rule of this policy's will answer it.
  bool helpless(const Scene& scene) const override {
    if (looping_ && scene.trainer.last_saved() == 0) return true;
    if (rules_.looks && !scene.has_machine() && extra_.empty()) return false;  // it rents at its next check
    return scene.trainer.in_trouble() && std::min({start_at_, end_at_, engine_at_, rent_at_}) >= kNever;
  }

 private:
  void lose(Scene& scene) {
    end_at_ = engine_at_ = start_at_ = kNever;
    if (rules_.machine < kNever) rent_at_ = scene.trainer.now() + rules_.machine;
  }

  void rent(Scene& scene) {
    rent_at_ = kNever;
    if (scene.has_machine()) return;
    do scene.rent(false);
    while (scene.ready() >= kNever && (scene.give_back(scene.own), true));  // an unfit one is noticed at once
    begin_there(scene);
  }

  /// What a new machine needs before it can begin: its download.
  void begin_there(const Scene& scene) { start_at_ = scene.ready() >= kNever ? kNever : scene.ready() + costs_.upload; }

  void see_exit(Scene& scene) {
    Trainer& trainer = scene.trainer;
    const double now = trainer.now();
    idle_exits_ = trainer.last_saved() == 0 ? idle_exits_ + 1 : 0;
    looping_ = trainer.load_failed() || idle_exits_ >= kLoop;
    trainer.stop();  // it is seen
    engine_at_ = end_at_ = kNever;
    exits_.push_back(now);
    while (exits_.front() < now - rules_.window) exits_.pop_front();
    if (static_cast<int64_t>(exits_.size()) >= rules_.gives_up || rules_.exit >= kNever) return;
    if (rules_.makes_room && trainer.exited_by() == Fault::kDiskFull) trainer.make_room();
    start_at_ = now + rules_.exit;
  }

  void start(Scene& scene) {
    start_at_ = kNever;
    Trainer& trainer = scene.trainer;
    if (!scene.has_machine() || trainer.mode() != Mode::kNone) return;
    const Checkpoint from = rules_.whole ? trainer.newest_whole(rules_.clean) : trainer.newest();
    trainer.start(from, rules_.start > 0 ? rules_.start : costs_.start);
  }

  /// The report's controller: what the metrics service shows, and whether any machine says that it runs.
  void look(Scene& scene) {
    const double now = scene.trainer.now();
    look_at_ = now + kLook;
    const Trainer& trainer = scene.trainer;
    const bool works = trainer.mode() == Mode::kTraining || trainer.mode() == Mode::kSaving;
    if (works) shown_ = now;
    const bool blind = now >= blind_.first && now < blind_.second;
    const double since = blind ? std::min(shown_, blind_.first) : shown_;
    const bool healthy = trainer.mode() != Mode::kNone && now - since <= kStale;
    if (healthy) return;
    const bool listed = world_.draw(kListing, static_cast<uint64_t>(now / kLook) + 1) >= kListingFails;
    const bool runs = std::any_of(scene.machines.begin(), scene.machines.end(),
                                  [now](const Machine& one) { return one.exists(now) && now >= one.ready; });
    if (listed && runs) return;                                         // "recovery in progress"
    const bool beside = scene.has_machine() && scene.ready() < kNever;  // the one that it has only takes its time
    if (scene.has_machine() && !beside) extra_.push_back(scene.own);
    const size_t made = scene.rent(beside);
    if (beside) {
      extra_.push_back(made);
    } else {
      begin_there(scene);
    }
  }

  /// A person comes when a message calls, or looks at the usual hours, and puts right what is wrong by then.
  void call_person(Scene& scene) {
    const double now = scene.trainer.now();
    if (now >= repaired_at_) return repair(scene);
    if (repaired_at_ < kNever) return;
    if (!helpless(scene) && extra_.empty()) {
      person_at_ = kNever;
      return;
    }
    if (person_at_ >= kNever) person_at_ = rules_.asks ? world_.answers(now) : world_.next_look(now);
    if (now < person_at_) return;
    person_at_ = kNever;
    repaired_at_ = now + costs_.hands_on;
  }

  void repair(Scene& scene) {
    repaired_at_ = kNever;
    Trainer& trainer = scene.trainer;
    for (const size_t machine : extra_) scene.give_back(machine);
    extra_.clear();
    if (!helpless(scene)) return;
    ++trainer.books.repairs;
    looping_ = false;
    idle_exits_ = 0;
    exits_.clear();
    trainer.make_room();
    end_at_ = engine_at_ = start_at_ = rent_at_ = kNever;
    if (!scene.has_machine() || scene.ready() >= kNever) {
      if (scene.has_machine()) scene.give_back(scene.own);
      return rent(scene);
    }
    if (trainer.mode() != Mode::kNone) trainer.stop();
    trainer.start(trainer.newest_whole(true), costs_.start);
  }

  const World& world_;
  const Costs& costs_;
  const Rules& rules_;
  double start_at_ = kNever, end_at_ = kNever, engine_at_ = kNever, rent_at_ = kNever;
  double person_at_ = kNever, repaired_at_ = kNever, look_at_ = kNever, shown_ = 0;
  bool looping_ = false;  ///< the checkpoint that it resumes from is broken, or no save succeeds
  int idle_exits_ = 0;    ///< in a row, of processes that saved nothing
  std::pair<double, double> blind_{kNever, kNever};
  std::deque<double> exits_;
  std::vector<size_t> extra_;
};

}  // namespace

std::span<const Rules> all_rules() { return kAll; }

const Rules* find_rules(std::string_view name) {
  for (const Rules& rules : kAll) {
    if (rules.name == name) return &rules;
  }
  return nullptr;
}

std::unique_ptr<Policy> make_ruled(const World& world, const Rules& rules) {
  return std::make_unique<Ruled>(world, rules);
}

}  // namespace mw::sim::goodput
