#include "sim/supervised.h"

#include <algorithm>
#include <cstdio>

#include "act/supervise/resume.h"
#include "act/supervise/supervisor.h"
#include "base/checksum.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "platform/durable.h"
#include "sense/checkpoints/last_whole.h"
#include "sim/supervised_shipping.h"
#include "sim/supervised_world.h"

namespace mw::sim {
namespace {

constexpr int64_t kLongest = 20'000;    // ticks within which every run is over
constexpr int64_t kSlowToPause = 40;    // ticks from a pause that was taken to nothing moving any more
constexpr size_t kTripsOfARule = 2;     // the second time a person must look
constexpr uint64_t kPoisonLimit = 400;  // steps of poison in all, over every trip of a seed
const CheckpointLayout kLayout{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};

/// The journal's side: an intent is durable, or the action is not done.
class SupervisedWriter final : public EventWriter {
 public:
  SupervisedWriter(SupervisedWorld& world, State& state) : world_(world), state_(state) {}
  Result<uint32_t> intend(event::Intended intent) override {
    intent.id = state_.last_action + 1;
    Event event{world_.clock.now(), {}, intent};
    fold(state_, event);
    if (auto durable = touch(); !durable.ok()) {
      acted({intent.id, false, "not recorded", 0});
      return durable.error();
    }
    world_.journal.push_back(std::move(event));
    return intent.id;
  }
  void acted(event::Acted outcome) override {
    Event event{world_.clock.now(), {}, std::move(outcome)};
    fold(state_, event);
    if (!world_.disk.dead()) world_.journal.push_back(std::move(event));
  }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::record;
  Result<void> record(SupervisionEvent body, Time) override {
    Event event{world_.clock.now(), {}, event::Ticked{}, world_.clock.now()};
    std::visit([&event](auto& one) { event.body = std::move(one); }, body);
    fold(state_, event);
    unwritten_.push_back(std::move(event));
    MW_TRY(touch());
    return {};
  }
  Result<void> sync() override { return unwritten_.empty() ? Result<void>() : touch(); }
  /// As the loop does in each turn. True when all is written.
  bool keep() { return unwritten_.empty() || touch().ok(); }
  using EventWriter::observed;
  void observed(const std::string&, event::CheckpointSeen&& seen) override {
    Event event{world_.clock.now(), {}, std::move(seen)};
    fold(state_, event);
    if (!world_.disk.dead()) world_.journal.push_back(std::move(event));
  }

 private:
  /// One more change of the disk at which the watch may die.
  Result<void> touch() {
    auto file = world_.disk.open_append(cat(kRunFolder, "/journal"));
    if (!file.ok()) return file.error();
    MW_TRY((*file)->append("x"));
    MW_TRY((*file)->sync());
    // What could not be written before goes with it.
    for (Event& event : unwritten_) world_.journal.push_back(std::move(event));
    unwritten_.clear();
    return {};
  }
  SupervisedWorld& world_;
  State& state_;
  std::vector<Event> unwritten_;
};

class SupervisedRun {
 public:
  SupervisedRun(uint64_t seed, bool aloud)
      : world_(seed),
        dice_(seed * 104'729 + 11),
        shipping_(world_, kLayout, seed),
        ships_(seed % 4 == 0),
        aloud_(aloud) {
    (void)world_.disk.make_folders(std::string(kRunFolder)).ok();
    RunSpec spec;
    spec.command = {"python", "train.py"};
    spec.folder = "/w";
    spec.limits.restarts = world_.restarts;
    spec.limits.first_wait = Duration::seconds(1);
    spec.limits.longest_wait = Duration::seconds(8);
    if (world_.resumes_by_word) {
      spec.command.emplace_back(kResumeWord);
      spec.resume = {"--from={step}"};
    }
    spec.checkpoints = {std::string(kCheckpointsFolder)};
    spec.nonce = "0123456789abcdef";
    spec.marker = "fedcba9876543210";
    const auto some_mode = [this] {
      return dice_.chance(0.8) ? Mode::kAct : dice_.chance(0.7) ? Mode::kAsk : Mode::kWatch;
    };
    breaking_ = spec.breaking = spec.breaking_learning = some_mode();
    restarting_ = spec.restarting = some_mode();
    world_.asks_to_break = breaking_ == Mode::kAsk;
    world_.poison_allowed = breaking_ == Mode::kWatch;
    world_.disk.put(cat(kRunFolder, "/", kRunSpecFile), run_spec_text(spec));
    stops_at_ = dice_.chance(0.15) ? static_cast<int64_t>(20 + dice_.below(200)) : 0;
    pauses_at_ = dice_.chance(0.25) ? static_cast<int64_t>(20 + dice_.below(150)) : 0;
    mortal_ = dice_.chance(0.8);
  }

  SupervisedVerdict run() {
    while (!over_ && world_.problem.empty() && world_.tick() < kLongest) {
      one_.reset();
      world_.watched = false;
      begin_life();
      if (one_ != nullptr) live();
      ++verdict_.lives;
    }
    if (world_.problem.empty() && !over_) world_.wrong("it is not over in time");
    if (world_.problem.empty()) check_end();
    if (world_.problem.empty() && ships_) shipping_.end_well();
    verdict_.pushes = shipping_.pushes();
    verdict_.wrong = world_.problem;
    verdict_.attempts = world_.launched;
    verdict_.finished = world_.finished ? 1 : 0;
    verdict_.digest = shipping_.digest();
    for (const Event& event : world_.journal) {
      std::string line;
      encode_event(event, line);
      verdict_.digest = fnv1a(line, verdict_.digest + 1);
      const auto* intended = std::get_if<event::Intended>(&event.body);
      if (intended != nullptr && intended->action == "break") ++verdict_.trips;
    }
    return verdict_;
  }

 private:
  void begin_life() {
    world_.disk.set_faults({});
    world_.disk.process_died();
    for (uint64_t n = dice_.below(10); n > 0; --n) pass();  // nobody watches
    world_.remember(state_);
    if (world_.unreadable && dice_.chance(0.5)) {
      world_.disk.set_faults({0, 0, 0, UINT64_MAX, 0.3, std::string(kRunFolder)});
    }
    writer_ = std::make_unique<SupervisedWriter>(world_, state_);
    const auto say = [this](const std::string& text) {
      if (aloud_) std::printf("%lld: %s\n", static_cast<long long>(world_.tick()), text.c_str());
    };
    auto opened = Supervisor::open(
        {world_.disk, world_.clock, world_.processes, [this](const std::string& folder) { return start(folder); },
         [this](const std::string& path, std::string_view text) { return write_durably(world_.disk, path, text); },
         [](const std::string&) { return kLayout; }, say,
         [this](const auto& roots, const auto& layout, int64_t before, const auto& skip, const auto& unsound) {
           return std::optional<LastWhole>(find_last_whole(world_.disk, roots, layout, before, skip, unsound));
         }},
        knowledge_, std::string(kRunFolder));
    if (!opened.ok() && world_.unreadable) return;  // who begins it begins it again
    if (!opened.ok()) return world_.wrong(cat("it cannot be reattached: ", opened.error().what));
    one_ = std::move(*opened);
    world_.disk.set_faults({});
    if (!mortal_) return;
    world_.disk.die_after(1 + dice_.below(60));
    const auto sometimes = [this] { return dice_.chance(0.3) ? 0.02 : 0; };
    const FakeDisk::Faults faults{sometimes(),
                                  sometimes(),
                                  sometimes(),
                                  UINT64_MAX,
                                  world_.unreadable ? sometimes() : 0,
                                  std::string(kRunFolder)};
    world_.disk.set_faults(faults);
    world_.disk_lies = world_.disk_lies || faults.other > 0;
  }

  Result<void> start(const std::string& folder) {
    if (world_.disk.dead()) return Error{Error::Code::kIo, "dead", ""};
    return world_.start_keeper(folder);
  }

  /// Until it is over or the process dies.
  void live() {
    world_.watched = true;
    while (world_.problem.empty() && !world_.disk.dead() && world_.tick() < kLongest) {
      people();
      const bool quiet = world_.deliver(state_);
      const auto on = one_->turn(state_, quiet, *writer_);
      world_.refused_turns = on.ok() ? 0 : world_.refused_turns + 1;
      if (world_.disk.dead()) return;
      if (on.ok() && writer_->keep()) check_fold();
      if (on.ok() && !*on) {
        over_ = true;
        return;
      }
      if (mortal_ && dice_.chance(0.002)) return;  // killed between two changes
      pass();
      if (ships_) shipping_.turn();
    }
  }

  void pass() {
    world_.pass();
    check_pointer();
    check_pause();
  }

  void people() {
    const auto asked = [this](int64_t& at, const char* what) {
      if (at == 0 || world_.tick() < at) return false;
      if (!writer_->record(event::Requested{what, "mira@node7"}).ok() || world_.disk.dead()) return false;
      at = 0;
      return true;
    };
    if (stops_at_ != 0 && world_.tick() >= stops_at_) {
      stop_sent_ = world_.stop_requested = true;
      stop_now_ = stop_now_ || dice_.chance(0.3);
      one_->stop(stop_now_);  // a signal; what dies before it is recorded gets it again
    }
    answer();
    if (asked(pauses_at_, "pause")) {
      paused_since_ = world_.tick();
      resumes_at_ = world_.tick() + 60;
    }
    if (resumes_at_ != 0 && world_.tick() >= resumes_at_) paused_since_ = 0;  // what is not durable holds until it dies
    (void)asked(resumes_at_, "resume");
  }

  /// To what it asks for, some time later; who lets a poisoned attempt go on has his way. What fails is asked again, as
  /// from an inbox.
  void answer() {
    const SupervisedAttempt* known = state_.supervision.attempt(one_->attempt());
    const bool asks = known != nullptr && (known->breaking.waits() || known->restarting.waits());
    if (answer_ == kNoAnswer && asks && dice_.chance(0.05)) {
      answer_ = dice_.chance(0.7) ? kYes : kNo;
      if (answer_ == kYes) world_.approved = world_.number();
    }
    if (answer_ == kNoAnswer) return;
    paused_since_ = 0;  // either continues it, or ends it
    if (answer_ == kNo) {
      if (!one_->refuse(state_, *writer_).ok()) return;
      world_.poison_allowed = true;
      if (!writer_->record(event::Requested{"resume", "mira@node7"}).ok()) return;
    } else if (!one_->approve(state_, *writer_).ok()) {
      return;
    }
    if (!world_.disk.dead()) answer_ = kNoAnswer;
  }

  /// What the journal says of the run is what the supervisor goes by.
  void check_fold() {
    State folded;
    fold(folded, {{}, {}, event::SourceOpened{0, "train.log", "text", 0}});
    for (const Event& event : world_.journal) fold(folded, event);
    const Supervision& known = folded.supervision;
    const auto differs = [this](bool bad, std::string_view what) {
      if (bad) world_.wrong(cat("the journal and the supervisor differ: ", what));
    };
    differs(known.stop != one_->stopping(), "a stop");
    if (known.stop && stops_at_ != 0) {  // it is on record: nobody sends the signal again
      stops_at_ = 0;
      world_.stopped_at = world_.tick();
    }
    const SupervisedAttempt* last = known.attempt(one_->attempt());
    if (one_->command_pid() != 0) {
      differs(last == nullptr || !last->started || last->pid != one_->command_pid(), "the command's process");
    }
    if (one_->ending()) {
      const Ending& ending = *one_->ending();
      differs(last == nullptr || !last->exited || last->known != ending.known, "an exit");
      if (last != nullptr && ending.known)
        differs(last->code != ending.code || last->signal != ending.signal, "how it exited");
    }
    if (last == nullptr) return;
    if (last->decided && !last->restart) differs(one_->command_pid() != 0, "the end of the run");
    if (one_->attempt() > 1) {
      const SupervisedAttempt* before = known.attempt(one_->attempt() - 1);
      differs(before == nullptr || !before->decided || !before->restart, "why the attempt began");
    }
  }

  /// Whenever anybody looks, the trainer's pointer names a whole checkpoint, or there is none.
  void check_pointer() {
    const std::string pointer = cat(kCheckpointsFolder, "/", kLayout.pointer);
    if (!world_.disk.exists(pointer)) {
      if (pointer_seen_ && world_.disk.content(cat(kCheckpointsFolder, "/global_step_5/policy.bin")) == "good") {
        world_.wrong("the pointer is gone though there is a good checkpoint");
      }
      return;
    }
    pointer_seen_ = true;
    const std::string at = cat(kCheckpointsFolder, "/global_step_", trim(world_.disk.content(pointer)), "/config.json");
    if (!world_.disk.exists(at)) world_.wrong("the pointer names nothing");
  }

  /// Some time after a pause was taken no command moves, unless nobody watches or a stop was requested.
  void check_pause() {
    if (paused_since_ == 0 || one_ == nullptr || one_->stopping()) return;
    if (world_.disk.dead() || !world_.runs())
      paused_since_ = world_.tick();  // the next life, or attempt, gets its time
    if (world_.tick() - paused_since_ < kSlowToPause) return;
    for (const auto& [pid, one] : world_.processes.table) {
      const bool of_run = !one.marker.empty();
      if (of_run && one.info.state != 'T' && one.pending == 0) world_.wrong("something of a paused run moves");
    }
  }

  void check_end() {
    for (uint64_t n = 0; n < 10; ++n) pass();
    if (!world_.still()) world_.wrong("it is over, and its command lives");
    std::set<int64_t> decided;
    for (const Event& event : world_.journal) {
      if (const auto* one = std::get_if<event::Decided>(&event.body)) decided.insert(one->attempt);
    }
    const size_t judged = decided.size();
    // An end whose judgement the disk refuses for twenty seconds is an end all the same; somebody else's save takes
    // forty. At a stop it is one after two seconds.
    const bool may_refuse = world_.has_foreign || (stop_sent_ && (world_.unreadable || world_.disk_lies));
    const bool refused = may_refuse && judged + 1 == world_.launched;
    if (judged != world_.launched && !refused) world_.wrong("attempts and judgements differ in number");
    if (one_->why_over().empty()) world_.wrong("it is over, and nobody knows why");
    if (restarting_ == Mode::kWatch && world_.launched > 1)
      world_.wrong("it was started again, and should only be watched");
    if (world_.poisoned_steps > kPoisonLimit && !world_.poison_allowed) world_.wrong("too much was trained on poison");
    if (!stop_sent_ && one_->why_over() == "A stop was requested.") world_.wrong("nobody asked it to stop");
    if (world_.stubborn_bug && world_.launched > static_cast<uint64_t>(world_.restarts) * 30 + 60) {
      world_.wrong("a failure that repeats was repeated for ever");
    }
    std::set<uint32_t> open, seen;
    std::map<uint32_t, std::string> breaks;  // attempts that were to end for a rule, by the action
    std::set<std::string> by_rule;           // and did
    for (const Event& event : world_.journal) {
      const auto* acted = std::get_if<event::Acted>(&event.body);
      if (acted != nullptr && acted->ok && breaks.count(acted->id) > 0) by_rule.insert(breaks[acted->id]);
      if (const auto* intended = std::get_if<event::Intended>(&event.body)) {
        if (intended->action == "break" && intended->why.starts_with(kUserRule))
          breaks[intended->id] = intended->target;
        if (!seen.insert(intended->id).second) world_.wrong("two actions have one number");
        open.insert(intended->id);
      }
    }
    if (by_rule.size() > kTripsOfARule)
      world_.wrong("a rule was broken at the same step again, and it went back once more");
  }

  SupervisedWorld world_;
  Prng dice_;
  SupervisedShipping shipping_;
  const bool ships_;
  Knowledge knowledge_;
  State state_;
  std::unique_ptr<SupervisedWriter> writer_;
  std::unique_ptr<Supervisor> one_;
  SupervisedVerdict verdict_;
  int64_t stops_at_ = 0, pauses_at_ = 0, resumes_at_ = 0, paused_since_ = 0;
  enum { kNoAnswer, kYes, kNo } answer_ = kNoAnswer;
  bool stop_now_ = false;
  Mode breaking_ = Mode::kAct, restarting_ = Mode::kAct;
  bool aloud_, mortal_ = true, over_ = false, pointer_seen_ = false, stop_sent_ = false;
};

}  // namespace

SupervisedVerdict run_supervised_seed(uint64_t seed, bool aloud) { return SupervisedRun(seed, aloud).run(); }

}  // namespace mw::sim
