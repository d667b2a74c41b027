#include "sim/check.h"

#include <algorithm>
#include <vector>

#include "base/checksum.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "platform/clock.h"
#include "platform/fake_disk.h"
#include "sim/state_text.h"
#include "sim/trainer.h"

namespace mw::sim {
namespace {

constexpr int kTurnLimit = 5000;  ///< turns of the loop before a run counts as stuck
constexpr Time kStart{1'700'000'000'000'000'000};

/// The first line in which two texts differ.
std::string difference(const std::string& a, const std::string& b) {
  size_t i = 0, line = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) {
    ++i;
    if (a[i - 1] == '\n') line = i;
  }
  return cat("\n  one:   ", a.substr(line, a.find('\n', i) - line),
             "\n  other: ", b.substr(line, b.find('\n', i) - line));
}

/// What the journal holds in the end.
struct Held final : Journal::Reader {
  State state;
  std::vector<std::vector<std::string>> told;  // by source: what its lines said, in order
  std::vector<uint64_t> lines;
  uint64_t digest = fnv1a("");
  std::string wrong;

  void record(uint64_t number, std::string_view json) override {
    digest = fnv1a(json, digest * 31 + number);
    Event event;
    if (decode_event(json, event) != Decoded::kEvent) {
      wrong = cat("record ", number, " is no event");
      return;
    }
    fold(state, event);
    const bool of_the_watch = std::holds_alternative<event::Ticked>(event.body) ||
                              std::holds_alternative<event::Closed>(event.body) ||
                              std::holds_alternative<event::SourceEnded>(event.body) ||
                              std::holds_alternative<event::SourceOpened>(event.body) ||
                              event_name(event).starts_with("incident") || event_name(event) == "verdict-given";
    if (of_the_watch) return;
    if (told.size() <= event.where.source) told.resize(event.where.source + 1);
    told[event.where.source].emplace_back(json);
  }
  void damage(const std::string& what) override { wrong = what; }
};

class Run {
 public:
  Run(uint64_t seed, Mutant mutant)
      : prng_(seed), mutant_(mutant), disk_(seed), clock_(kStart), trainer_(seed, world_, kStart) {}

  Verdict go() {
    for (int turn = 0; turn < kTurnLimit && result_.wrong.empty(); ++turn) {
      if (step()) {
        check();
        return result_;
      }
    }
    if (result_.wrong.empty()) result_.wrong = "the watcher never came to an end";
    return result_;
  }

 private:
  /// True when the run is over, read and closed.
  bool step() {
    const Duration time = Duration::seconds(1 + prng_.unit() * 200);
    clock_.pass(time);
    trainer_.pass(time);
    set_faults();
    if (watcher_ == nullptr && !revive()) return false;
    const bool last = trainer_.over() && watcher_->all_read();
    const bool went_well = last ? watcher_->finish() : watcher_->turn(clock_.now(), 1 + prng_.below(12));
    if (disk_.dead() || prng_.chance(0.05)) {
      kill();
      return false;
    }
    return last && went_well && watcher_->state().closed;
  }

  void set_faults() {
    // Towards the end the disk heals, or nothing could ever be checked.
    const bool healed = trainer_.over() && ++after_ > 60;
    if (healed) {
      disk_.set_faults({});
      disk_.die_after(UINT64_MAX);
    } else if (prng_.chance(0.05)) {
      disk_.set_faults({prng_.chance(0.3) ? 0.2 : 0, prng_.chance(0.3) ? 0.3 : 0, prng_.chance(0.3) ? 0.1 : 0,
                        prng_.chance(0.1) ? disk_.used() + prng_.below(500) : UINT64_MAX});
    }
    if (!healed && prng_.chance(0.06)) disk_.die_after(1 + prng_.below(12));
  }

  bool revive() {
    auto watcher = std::make_unique<Watcher>(disk_, world_, knowledge_, mutant_);
    if (!watcher->start()) {
      if (disk_.dead()) disk_.process_died();
      return false;
    }
    ++result_.lives;
    if (!watcher->trouble().empty() && !power_was_lost_) result_.wrong = "on recovery: " + watcher->trouble();
    watcher_ = std::move(watcher);
    return true;
  }

  void kill() {
    watcher_.reset();
    if (prng_.chance(0.3)) {
      disk_.power_lost();
      power_was_lost_ = true;
    } else {
      disk_.process_died();
    }
  }

  void check() {
    disk_.set_faults({});
    disk_.die_after(UINT64_MAX);
    Held held;
    const Result<void> read = Journal::read(disk_, Watcher::kFolder, held);
    if (!read.ok()) return wrong(read.error().what);
    if (!held.wrong.empty() && !power_was_lost_) return wrong(held.wrong);
    result_.digest = held.digest;
    check_told(held);
    const std::string live = state_text(watcher_->state()), kept = state_text(held.state);
    if (live != kept) return wrong("the live state is not the journal's:" + difference(live, kept));
    check_replay();
  }

  void check_told(const Held& held) {
    for (size_t source = 0; source < world_.files.size(); ++source) {
      const auto& lines = world_.files[source].lines;
      result_.events += lines.size();
      const size_t told = source < held.told.size() ? held.told[source].size() : 0;
      for (size_t i = 0; i < std::min(told, lines.size()); ++i) {
        std::string expected;
        encode_event(lines[i], expected);
        if (held.told[source][i] != expected) {
          return wrong(
              cat("source ", source, ": record ", i + 1, " should be ", expected, "\n  and is ", held.told[source][i]));
        }
      }
      if (told != lines.size()) return wrong(cat("source ", source, ": ", lines.size(), " lines, ", told, " records"));
    }
  }

  void check_replay() {
    State replayed;
    std::vector<Event> decided;
    for (const Event& event : world_.as_replay()) advance(replayed, event, knowledge_, Judge::kAtClose, decided);
    // Whoever watches sees time go by without news; who reads the files afterwards does not.
    std::vector<Incident> seen = watcher_->state().incidents;
    const bool stalled = std::erase_if(seen, [](const Incident& incident) { return incident.kind == "stall"; }) != 0;
    std::erase_if(replayed.incidents, [](const Incident& incident) { return incident.kind == "stall"; });
    const std::string live = incidents_text(seen), after = incidents_text(replayed.incidents);
    if (live != after) return wrong("attach and replay tell different incidents:" + difference(live, after));
    if (!stalled && watcher_->state().verdict != replayed.verdict) {
      return wrong(cat("attach says ", watcher_->state().verdict, ", replay ", replayed.verdict));
    }
  }

  void wrong(std::string what) {
    if (result_.wrong.empty()) result_.wrong = std::move(what);
  }

  Prng prng_;
  Mutant mutant_;
  FakeDisk disk_;
  FakeClock clock_;
  World world_;
  Trainer trainer_;
  Knowledge knowledge_ = sim_knowledge();
  std::unique_ptr<Watcher> watcher_;
  Verdict result_;
  bool power_was_lost_ = false;
  int after_ = 0;
};

}  // namespace

Verdict run_seed(uint64_t seed, Mutant mutant) {
  Verdict first = Run(seed, mutant).go();
  const Verdict second = Run(seed, mutant).go();
  if (first.wrong.empty() && first.digest != second.digest) first.wrong = "the same seed gave two different journals";
  return first;
}

}  // namespace mw::sim
