// A world in which one training is to go on for days on a rented machine: what fails and when, what things take, and
// the books of where the time went. Every policy lives in the same worlds: what fails, which machine comes how late and
// when a person looks depends on the seed alone. Times are in seconds from the beginning, rates are per day.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/prng.h"

namespace mw::sim::goodput {

constexpr double kNever = 1e18;
constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

enum class Fault {
  kCrash,        ///< the trainer's process ends with a traceback
  kEngineDead,   ///< the process of the engine ends; the trainer waits for it, or trains on empty answers
  kEngineGrey,   ///< the engine's process lives and answers nothing more; the trainer waits
  kHang,         ///< the trainer does nothing any more
  kNonFinite,    ///< the loss, and with the next update the weights, are no numbers any more
  kBadSave,      ///< the process is killed in the middle of its next save, and leaves half of it
  kDiskFull,     ///< from now on every save fails, and ends the process, until somebody makes room
  kMachineLost,  ///< the machine is gone, without a word
  kOutbid,       ///< the provider stops the machine, without notice
  kCut,          ///< the machine's network is away for a while; it trains on
  kUpload,       ///< the next upload of a checkpoint fails
  kBlindMonitor  ///< the metrics service shows no new step of a healthy run for a while
};
constexpr size_t kFaults = 12;
std::string_view word_of(Fault fault);

/// Seconds. docs/goodput.md has the source of each.
struct Costs {
  double step = 210;       ///< one step
  double empty_step = 60;  ///< one on empty answers: nothing is generated
  double save = 3;         ///< that a save holds up training
  double engine = 119;     ///< an engine's start
  double start = 180;      ///< from the process to its first step: imports, engine, checkpoint load
  double load_fails = 60;  ///< until a start that finds a broken checkpoint ends
  double upload = 400;     ///< of a checkpoint; a download takes as long
  double hands_on = 900;   ///< a person's work on one repair
  double approve = 120;    ///< to read what midwatch asks, and to answer
  double check = 60;       ///< between two checks of midwatch's controller: what `fleet watch` does by itself
  int64_t every = 5;       ///< steps between saves
  double price = 5.73;     ///< dollars an hour of a machine
};

struct Setting {
  std::string_view name;
  std::array<double, kFaults> per_day{};
  Costs costs;
  double days = 15;
};
/// "report" or "spot"; nullptr: there is no such world.
const Setting* find_setting(std::string_view name);

/// A fault and two numbers from [0, 1) that decide its details.
struct Strike {
  double at = 0;
  Fault fault = Fault::kCrash;
  double u = 0, v = 0;
};

/// What becomes of the n-th machine that somebody rents.
struct Fate {
  double boots = 0;    ///< from renting it to its first command, image pull included
  bool never = false;  ///< it never starts
};

class World {
 public:
  World(const Setting& setting, uint64_t seed);
  const Setting& setting() const { return setting_; }
  const Costs& costs() const { return setting_.costs; }
  double end() const { return setting_.days * kDay; }
  const std::vector<Strike>& strikes() const { return strikes_; }
  Fate fate(size_t machine) const;
  /// A number from [0, 1) for the `n`-th draw of its kind.
  double draw(uint64_t kind, uint64_t n) const;
  /// When a person who gets no message looks next, after `now`: at 9, 13, 18 and 22 o'clock.
  double next_look(double now) const;
  /// When a person who gets a message at `now` has read it: a quarter of an hour later by day, at 8 by night.
  double answers(double now) const;

 private:
  const Setting& setting_;
  const uint64_t seed_;
  std::vector<Strike> strikes_;
};

struct Checkpoint {
  int64_t step = 0;
  double good = 0;  ///< seconds of good training that it holds
  bool whole = true;
  bool tainted = false;     ///< saved while it trained on poison
  bool dead = false;        ///< its weights are no numbers
  double shipped = kNever;  ///< the store has all of it from then on
};

/// Where time goes that is lost to a fault.
enum class Part {
  kRedone,      ///< steps done again
  kPoisoned,    ///< steps on poison
  kStuck,       ///< until it is noticed, and acted upon
  kNoMachine,   ///< until another machine is rented
  kBoots,       ///< until that runs
  kNeverBoots,  ///< until one that never starts is given up
  kFetches,     ///< until the process begins: a download, an approval, a pause
  kStarts       ///< until the first step
};
constexpr size_t kParts = 8;
std::string_view word_of(Part part);

/// Where the time of a run went, in seconds; the first seven add up to the time that there was.
struct Books {
  double good = 0;      ///< training that the run still has in the end
  double lost = 0;      ///< training that was done and had to be done again
  double poisoned = 0;  ///< steps on empty answers or with dead weights
  double saving = 0, starting = 0;
  double stuck = 0;             ///< a process is there and does nothing
  double down = 0;              ///< there is none
  double paid = 0, person = 0;  ///< of machines; in which nothing went on until a person acted
  int64_t poisoned_steps = 0, doubles = 0, repairs = 0, approvals = 0, rented = 0, restarts = 0;
  std::array<std::array<double, kParts>, kFaults> by_fault{};  ///< what is lost to each, as far as one is known
  double total() const { return good + lost + poisoned + saving + starting + stuck + down; }
};

/// The trainer's process. It saves every so many steps and obeys faults.
class Trainer {
 public:
  enum class Mode { kNone, kStarting, kTraining, kSaving, kStuck };
  Trainer(const Costs& costs, int64_t every);

  /// Lets time pass, at most to next().
  void advance(double to);
  /// When it does something by itself next.
  double next() const { return until_; }

  /// A process begins, from a checkpoint of `saved()`, and trains after `ready` seconds. A broken one ends it.
  void start(const Checkpoint& from, double ready);
  void stop();
  /// It goes on with the step that it was at: its engine is there again.
  void unstick();
  /// Stops in the middle of what it does (SIGSTOP).
  void pause() { go(Mode::kStuck, kNever); }
  void strike(const Strike& strike);
  void make_room() { disk_full_ = false; }
  /// Its machine is gone: only what was shipped by now is left.
  void lose_disk();

  Mode mode() const { return mode_; }
  double now() const { return now_; }
  bool poisoned() const { return empty_ || dead_; }
  bool in_trouble() const { return mode_ == Mode::kNone || mode_ == Mode::kStuck || poisoned(); }
  int64_t step() const { return step_; }
  /// Why the last process ended by itself; cleared by the next one.
  bool exited() const { return exited_; }
  Fault exited_by() const { return exited_by_; }
  bool load_failed() const { return load_failed_; }
  /// Of the process that runs, or ran last.
  int64_t resumed_at() const { return resumed_at_; }
  int64_t last_saved() const { return last_saved_; }  ///< step of the last whole save since it started; 0: none
  double started() const { return started_; }

  /// One life of the process, for whoever reads its log.
  struct Life {
    double began = 0, ended = 0;
    int64_t from = 0, to = 0;
  };
  const std::vector<Life>& lives() const { return lives_; }

  const std::vector<Checkpoint>& saved() const { return saved_; }
  Checkpoint newest() const { return saved_.back(); }
  Checkpoint newest_whole(bool clean) const;
  Books books;

 private:
  void one_step();
  void saved_one();
  void go(Mode mode, double seconds);
  void end_by(Fault fault);

  const Costs& costs_;
  const int64_t every_;
  Mode mode_ = Mode::kNone;
  double now_ = 0, until_ = kNever, into_ = 0, started_ = 0;
  int64_t step_ = 0, resumed_at_ = 0, last_saved_ = 0;
  bool empty_ = false, dead_ = false, exited_ = false, load_failed_ = false, disk_full_ = false, kill_save_ = false,
       lose_upload_ = false;
  Fault exited_by_ = Fault::kCrash;
  std::vector<Checkpoint> saved_;
  std::vector<Life> lives_;
  double uploading_until_ = 0;
};

struct Machine {
  double created = 0, ready = 0, ended = kNever;
  bool exists(double now) const { return created <= now && now < ended; }
};

/// All that a policy can act on.
class Scene {
 public:
  Scene(const World& in, int64_t every) : world(in), trainer(in.costs(), every) {}
  /// Rents another one. It is the run's own unless `beside` says that the run keeps the one that it has. `follows`: it
  /// is rented as a successor, which is no double where the one before it has not begun.
  size_t rent(bool beside, bool follows = false);
  void give_back(size_t machine);
  bool has_machine() const { return own < machines.size() && machines[own].exists(trainer.now()); }
  double ready() const { return own < machines.size() ? machines[own].ready : kNever; }

  const World& world;
  Trainer trainer;
  std::vector<Machine> machines;
  size_t own = SIZE_MAX;
};

/// What somebody, or something, does about it.
class Policy {
 public:
  virtual ~Policy() = default;
  /// Before anything else; the scene is empty.
  virtual void begin(Scene& scene) = 0;
  /// When it does something next, if nothing happens before.
  virtual double wakes() const = 0;
  /// Just before, and just after a fault.
  virtual void before(Scene&) {}
  virtual void struck(Scene&, const Strike&) = 0;
  /// Time has passed, or the trainer did something.
  virtual void turn(Scene& scene) = 0;
  /// Nothing goes on, and nothing will until a person acts.
  virtual bool helpless(const Scene& scene) const = 0;
};

/// Lives through one world. The result's times add up to `world.end()`. `log` may be nullptr.
Books live(const World& world, Policy& policy, int64_t every, std::vector<Trainer::Life>* log = nullptr);

}  // namespace mw::sim::goodput
