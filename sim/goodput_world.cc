#include "sim/goodput_world.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace mw::sim::goodput {
namespace {

enum Draw : uint64_t { kStrikes = 1, kBoots, kStarts };

constexpr double kNeverStarts = 0.03;  // of machines
constexpr double kFastBoot = 4 * kMinute, kSlowBoot = 15 * kMinute;
constexpr double kBeginsAt = 10 * kHour;                // of the first day
constexpr std::array kLooks = {9.0, 13.0, 18.0, 22.0};  // hours
constexpr double kWakes = 8, kSleeps = 23;              // hours

constexpr Setting kReport{
    "report",
    {/*crash*/ 0.5, /*engine dead*/ 0.5, /*engine grey*/ 0.1, /*hang*/ 0.25, /*non-finite*/ 0.05, /*bad save*/ 0.15,
     /*disk full*/ 0.1, /*machine lost*/ 0.1, /*outbid*/ 0, /*cut*/ 0.1, /*upload*/ 0.25, /*blind monitor*/ 0.5},
    {},
    15};
constexpr Setting kSpot{"spot", {0.5, 0.5, 0.1, 0.25, 0.05, 0.15, 0.1, 0.1, /*outbid*/ 4, 0.1, 0.25, 0.5}, {}, 15};

double hour_of(double now) { return std::fmod(now + kBeginsAt, kDay) / kHour; }

}  // namespace

std::string_view word_of(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kWords = {
      "crash",     "engine dead",  "engine silent", "hang",        "numbers not finite", "killed in a save",
      "disk full", "machine lost", "outbid",        "network cut", "upload failed",      "monitor blind"};
  return kWords.at(static_cast<size_t>(fault));
}

std::string_view word_of(Part part) {
  constexpr std::array<std::string_view, kParts> kWords = {"done again", "poisoned",     "stuck",     "no machine",
                                                           "boots",      "never starts", "before it", "starting"};
  return kWords.at(static_cast<size_t>(part));
}

const Setting* find_setting(std::string_view name) {
  return name == kReport.name ? &kReport : name == kSpot.name ? &kSpot : nullptr;
}

// ---- the world

World::World(const Setting& setting, uint64_t seed) : setting_(setting), seed_(seed) {
  for (size_t fault = 0; fault < kFaults; ++fault) {
    if (setting.per_day[fault] <= 0) continue;
    Prng dice(seed * 1'000'003 + fault * 7919 + kStrikes);
    for (double at = 0;;) {
      at -= std::log(1 - dice.unit()) * kDay / setting.per_day[fault];
      if (at >= end()) break;
      strikes_.push_back({at, static_cast<Fault>(fault), dice.unit(), dice.unit()});
    }
  }
  std::sort(strikes_.begin(), strikes_.end(), [](const Strike& a, const Strike& b) { return a.at < b.at; });
}

double World::draw(uint64_t kind, uint64_t n) const { return Prng(seed_ * 2'000'003 + kind * 104'729 + n * 31).unit(); }

Fate World::fate(size_t machine) const {
  if (machine == 0) return {};  // everybody begins with one that is there
  return {kFastBoot + (kSlowBoot - kFastBoot) * draw(kBoots, machine), draw(kStarts, machine) < kNeverStarts};
}

double World::next_look(double now) const {
  const double hour = hour_of(now);
  for (const double look : kLooks) {
    if (look > hour) return now + (look - hour) * kHour;
  }
  return now + (24 + kLooks.front() - hour) * kHour;
}

double World::answers(double now) const {
  const double hour = hour_of(now);
  if (hour >= kWakes && hour < kSleeps) return now + 15 * kMinute;
  return now + (hour < kWakes ? kWakes - hour : 24 + kWakes - hour) * kHour;
}

// ---- the trainer

Trainer::Trainer(const Costs& costs, int64_t every) : costs_(costs), every_(every) {
  saved_.push_back({0, 0, true, false, false, 0});  // to begin from nothing is always possible
}

void Trainer::advance(double to) {
  const double passed = to - now_;
  now_ = to;
  switch (mode_) {
    case Mode::kNone:
      books.down += passed;
      break;
    case Mode::kStarting:
      books.starting += passed;
      break;
    case Mode::kTraining:
      into_ += passed;
      (poisoned() ? books.poisoned : books.good) += passed;
      break;
    case Mode::kSaving:
      books.saving += passed;
      break;
    case Mode::kStuck:
      books.stuck += passed;
      break;
  }
  if (now_ < until_) return;
  if (mode_ == Mode::kStarting && load_failed_) {
    exited_ = true;
    exited_by_ = Fault::kBadSave;
    return go(Mode::kNone, kNever);
  }
  if (mode_ == Mode::kStarting) return go(Mode::kTraining, empty_ ? costs_.empty_step : costs_.step);
  if (mode_ == Mode::kSaving) return saved_one();
  if (mode_ == Mode::kTraining) one_step();
}

void Trainer::go(Mode mode, double seconds) {
  mode_ = mode;
  until_ = seconds >= kNever ? kNever : now_ + seconds;
}

void Trainer::one_step() {
  ++step_;
  into_ = 0;
  lives_.back().to = step_;
  lives_.back().ended = now_;
  if (poisoned()) ++books.poisoned_steps;
  if (step_ % every_ == 0) return go(Mode::kSaving, costs_.save);
  go(Mode::kTraining, empty_ ? costs_.empty_step : costs_.step);
}

void Trainer::saved_one() {
  Checkpoint made{step_, books.good, true, poisoned(), dead_, kNever};
  if (kill_save_ || disk_full_) {
    made.whole = false;
    saved_.push_back(made);
    const bool killed = kill_save_;
    kill_save_ = false;
    return end_by(killed ? Fault::kBadSave : Fault::kDiskFull);
  }
  if (!lose_upload_) {
    // One upload at once, and one that waits for its turn: a newer checkpoint takes its place.
    const bool waits = uploading_until_ > now_ + costs_.upload;
    for (Checkpoint& one : saved_) {
      if (waits && one.shipped == uploading_until_) one.shipped = kNever;
    }
    if (!waits) uploading_until_ = std::max(now_, uploading_until_) + costs_.upload;
    made.shipped = uploading_until_;
  }
  lose_upload_ = false;
  saved_.push_back(made);
  last_saved_ = step_;
  go(Mode::kTraining, empty_ ? costs_.empty_step : costs_.step);
}

void Trainer::end_by(Fault fault) {
  stop();
  exited_ = true;
  exited_by_ = fault;
}

void Trainer::start(const Checkpoint& from, double ready) {
  MW_CHECK(mode_ == Mode::kNone);
  ++books.restarts;
  books.lost += books.good - from.good;
  books.good = from.good;
  std::erase_if(saved_, [&](const Checkpoint& one) { return one.step > from.step; });
  step_ = resumed_at_ = from.step;
  last_saved_ = 0;
  started_ = now_;
  lives_.push_back({now_, now_, step_, step_});
  dead_ = from.dead;
  empty_ = exited_ = false;
  load_failed_ = !from.whole;
  go(Mode::kStarting, load_failed_ ? costs_.load_fails : ready);
}

void Trainer::stop() {
  if ((mode_ == Mode::kTraining || mode_ == Mode::kStuck) && !poisoned()) {
    books.good -= into_;
    books.lost += into_;
  }
  into_ = 0;
  exited_ = false;
  go(Mode::kNone, kNever);
}

void Trainer::unstick() {
  empty_ = false;
  if (mode_ == Mode::kStuck) go(Mode::kTraining, std::max(0.0, costs_.step - into_));
}

void Trainer::lose_disk() {
  const double now = now_;
  std::erase_if(saved_, [now](const Checkpoint& one) { return one.shipped > now; });
  disk_full_ = kill_save_ = false;
  uploading_until_ = 0;
}

Checkpoint Trainer::newest_whole(bool clean) const {
  for (size_t i = saved_.size(); i-- > 0;) {
    if (saved_[i].whole && !(clean && (saved_[i].tainted || saved_[i].dead))) return saved_[i];
  }
  return saved_.front();
}

void Trainer::strike(const Strike& strike) {
  if (strike.fault == Fault::kUpload) lose_upload_ = true;
  if (strike.fault == Fault::kDiskFull && mode_ != Mode::kNone) disk_full_ = true;
  const bool works = mode_ == Mode::kTraining || mode_ == Mode::kSaving;
  if (!works) return;
  switch (strike.fault) {
    case Fault::kCrash:
      return end_by(Fault::kCrash);
    case Fault::kBadSave:
      kill_save_ = true;
      return;
    case Fault::kHang:
    case Fault::kEngineGrey:
      return go(Mode::kStuck, kNever);
    case Fault::kEngineDead:
      if (strike.u >= 0.5) return go(Mode::kStuck, kNever);
      if (!poisoned()) books.good -= into_, books.lost += into_;
      empty_ = true;
      into_ = 0;
      if (mode_ == Mode::kTraining) go(Mode::kTraining, costs_.empty_step);
      return;
    case Fault::kNonFinite:
      if (!poisoned()) books.good -= into_, books.lost += into_;
      into_ = 0;
      dead_ = true;
      return;
    default:
      return;
  }
}

// ---- the scene

size_t Scene::rent(bool beside, bool follows) {
  const double now = trainer.now();
  if (has_machine() && !(follows && now < ready())) ++trainer.books.doubles;
  const Fate fate = world.fate(machines.size());
  machines.push_back({now, fate.never ? kNever : now + fate.boots, kNever});
  ++trainer.books.rented;
  if (!beside) own = machines.size() - 1;
  return machines.size() - 1;
}

void Scene::give_back(size_t machine) {
  if (machine >= machines.size()) return;
  machines[machine].ended = std::min(machines[machine].ended, trainer.now());
  if (machine != own) return;
  if (trainer.mode() != Trainer::Mode::kNone) trainer.stop();
  trainer.lose_disk();
}

namespace {

/// To which fault time is lost: the one that made trouble, until the trainer trains again. A machine that is gone
/// counts more than what it was in trouble for.
class Blame {
 public:
  explicit Blame(const Scene& scene) : scene_(scene) {}

  void begin() {
    before_ = scene_.trainer.books;
    const double now = scene_.trainer.now();
    down_ = !scene_.has_machine()      ? Part::kNoMachine
            : scene_.ready() >= kNever ? Part::kNeverBoots
            : now < scene_.ready()     ? Part::kBoots
                                       : Part::kFetches;
  }

  void struck(Fault fault, bool took_machine) {
    last_ = fault;
    if (took_machine) cause_ = fault;
  }

  void end(Books& into) {
    const Trainer& trainer = scene_.trainer;
    if (!cause_ && trainer.in_trouble()) cause_ = trainer.exited() ? trainer.exited_by() : last_;
    if (!cause_) return;
    auto& parts = into.by_fault[static_cast<size_t>(*cause_)];
    const auto add = [&parts](Part part, double seconds) { parts[static_cast<size_t>(part)] += seconds; };
    add(Part::kRedone, into.lost - before_.lost);
    add(Part::kPoisoned, into.poisoned - before_.poisoned);
    add(Part::kStuck, into.stuck - before_.stuck);
    add(down_, into.down - before_.down);
    add(Part::kStarts, into.starting - before_.starting);
    const bool works = trainer.mode() == Trainer::Mode::kTraining || trainer.mode() == Trainer::Mode::kSaving;
    if (works && !trainer.poisoned()) cause_.reset();
  }

 private:
  const Scene& scene_;
  Books before_;
  Part down_ = Part::kFetches;
  std::optional<Fault> last_, cause_;
};

}  // namespace

Books live(const World& world, Policy& policy, int64_t every, std::vector<Trainer::Life>* log) {
  Scene scene(world, every);
  Trainer& trainer = scene.trainer;
  policy.begin(scene);
  Blame blame(scene);
  size_t next = 0;
  while (trainer.now() < world.end()) {
    blame.begin();
    const auto& strikes = world.strikes();
    const double strike = next < strikes.size() ? strikes[next].at : kNever;
    const double wakes = std::max(policy.wakes(), trainer.now());
    const double to = std::min({strike, wakes, trainer.next(), world.end()});
    if (policy.helpless(scene)) trainer.books.person += to - trainer.now();
    trainer.advance(to);
    if (to >= world.end()) break;
    if (to == strike) {
      const Strike& one = strikes[next++];
      policy.before(scene);
      const bool ends = one.fault == Fault::kMachineLost || one.fault == Fault::kOutbid;
      const bool took = ends && scene.has_machine() && trainer.now() >= scene.ready();
      if (took) scene.give_back(scene.own);
      blame.struck(one.fault, took);
      trainer.strike(one);
      policy.struck(scene, one);
    }
    policy.turn(scene);
    blame.end(trainer.books);
  }
  for (const Machine& one : scene.machines) trainer.books.paid += std::min(one.ended, world.end()) - one.created;
  if (log != nullptr) *log = trainer.lives();
  return trainer.books;
}

}  // namespace mw::sim::goodput
