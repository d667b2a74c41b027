#include "sim/check.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "app/attach.h"
#include "base/checksum.h"
#include "base/text.h"
#include "core/advance.h"
#include "core/event_codec.h"
#include "core/incident_json.h"
#include "core/supervise/verify.h"
#include "platform/clock.h"
#include "platform/fake/fake_disk.h"
#include "sim/doors.h"
#include "sim/state_text.h"
#include "sim/trainer.h"

namespace mw::sim {
namespace {

constexpr int kLifeLimit = 400;    ///< lives of the watch before a run counts as stuck
constexpr int kTurnLimit = 20000;  ///< turns of one life, likewise
constexpr int kHealAfter = 60;     ///< waits after the trainer's end from which on the disk is well
constexpr double kPollS = 45, kIdleS = 300;
constexpr Time kStart{1'768'464'000'000'000'000};  // 2026-01-15 08:00:00 UTC
constexpr const char* kRun = "/run";
constexpr uint64_t kJudgedEach = 16;  ///< records of a journal between two judgements that are compared

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

/// What a journal holds in the end.
struct JournalContent final : Journal::Reader {
  explicit JournalContent(const Knowledge* knowledge = nullptr) : knowledge_(knowledge) {}

  State state;
  struct Line {
    uint64_t number = 0;
    std::string json;  ///< of the event, without the numbers of source and line
    bool measured = false;
  };
  using Lines = std::vector<Line>;
  std::map<std::string, Lines> by_path;  ///< by path: what its present content said, in order
  uint64_t digest = fnv1a("");
  std::string wrong;
  std::string again;  ///< a file that was read as new content although it had been read before

  void record(uint64_t number, std::string_view json) override {
    digest = fnv1a(json, digest * 31 + number);
    Event event;
    if (decode_event(json, event) != Decoded::kEvent) {
      wrong = cat("record ", number, " is no event");
      return;
    }
    fold(state, event);
    if (knowledge_ != nullptr && number % kJudgedEach == 0) judge_both(number);
    note(event);
  }
  void damage(const std::string& what) override { wrong = what; }
  /// What goes on from the judgement before, and what walks over the whole run, come to the same.
  void judge_both(uint64_t number) {
    State unasked = state;
    unasked.merged.clear();  // what find() has put together goes on, too
    const auto goes_on = judge(state, *knowledge_, memory_), anew = judge(unasked, *knowledge_);
    const std::string one = written_out(goes_on), other = written_out(anew);
    if (one != other && wrong.empty()) {
      wrong = cat("after record ", number,
                  " a judgement that goes on from the one before differs from one over all:", difference(one, other));
    }
  }
  /// In the order of their numbers.
  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& [number, path] : paths_) all.push_back(path);
    return all;
  }
  /// Also the provisional events that nothing came after.
  void finish() {
    for (auto& [path, lines] : provisional_) by_path[path].insert(by_path[path].end(), lines.begin(), lines.end());
  }

 private:
  void note(Event& event) {
    if (const auto* ticked = std::get_if<event::Ticked>(&event.body)) {
      closing_ = ticked->closing;
      provisional_.clear();
    }
    if (const auto* opened = std::get_if<event::SourceOpened>(&event.body)) {
      paths_[opened->source] = opened->path;
      if (!by_path[opened->path].empty()) again = opened->path;
      by_path[opened->path].clear();
      return;
    }
    const std::string& path = paths_[event.where.source];
    if (!is_from_source(event)) return;
    Line line{event.where.line, "", std::holds_alternative<event::Measured>(event.body)};
    event.where = {};
    event.received = {};
    encode_event(event, line.json);
    (closing_ ? provisional_ : by_path)[path].push_back(std::move(line));
  }

  /// A line for each incident, with everything.
  std::string written_out(const std::vector<Incident>& all) const {
    std::string text;
    for (const Incident& incident : all) text += incident_json(incident, state) + "\n";
    return text;
  }

  const Knowledge* knowledge_;  ///< null: nothing is judged
  JudgeMemory memory_;
  std::map<uint32_t, std::string> paths_;
  std::map<std::string, Lines> provisional_;
  bool closing_ = false;
};

/// Judges anew what the watch judged, from its journal alone.
struct JournalVerified final : Journal::Reader {
  explicit JournalVerified(const KnowledgeBase& knowledge)
      : verifier(knowledge.knowledge(), knowledge.digest(), MIDWATCH_VERSION) {}
  void record(uint64_t, std::string_view json) override {
    Event event;
    if (decode_event(json, event) == Decoded::kEvent) verifier.take(event);
  }
  void damage(const std::string&) override {}
  Verifier verifier;
};

class Run {
 public:
  Run(uint64_t seed, const KnowledgeBase& knowledge, bool compares)
      : knowledge_base_(knowledge),
        prng_(seed),
        disk_(seed),
        clock_(kStart),
        trainer_(seed, disk_, kStart),
        compares_(compares) {
    request_.paths = {kRun};
    request_.home = "/watch";
    request_.poll_s = kPollS;
    request_.exit_after_idle_s = kIdleS;
    framework_given_ = prng_.chance(0.5);
    if (framework_given_) request_.framework = trainer_.dialect();
  }

  Verdict go() {
    for (int life = 0; life < kLifeLimit && result_.wrong.empty(); ++life) {
      if (!live()) continue;
      check();
      return result_;
    }
    if (result_.wrong.empty()) result_.wrong = "the watch never came to an end";
    return result_;
  }

 private:
  /// One life of the watch. True when the run is over, read and closed.
  bool live() {
    SimWatch watch([this](Duration longest) { return pass(longest); });
    auto loop = AttachLoop::open({disk_, clock_, watch, locks_}, knowledge_base_, request_);
    if (!loop.ok()) {
      die();
      pass(Duration::seconds(kPollS));
      return false;
    }
    ++result_.lives;
    for (int turn = 0; (*loop)->turn(); ++turn) {
      if (turn < kTurnLimit) continue;
      wrong("a life of the watch never came to an end");
      return false;
    }
    last_ = (*loop)->take();
    loop->reset();
    const bool died = disk_.dead();
    if (died) {
      die();
    } else {
      // It ended with a sync that had failed, perhaps; as in process_died(), that power is lost later is a fault more.
      disk_.process_ended();
    }
    return !died && trainer_.over() && last_->state.closed && !last_->partial;
  }

  /// The process ends, and now and then the machine with it.
  void die() {
    if (disk_.dead() && prng_.chance(0.3)) {
      disk_.power_lost();
    } else {
      disk_.process_died();
    }
  }

  /// The world while the watch waits.
  Watch::Woke pass(Duration longest) {
    if (disk_.dead()) return Watch::Woke::kStop;
    const Duration time{static_cast<int64_t>(static_cast<double>(longest.ns) * (0.2 + 0.8 * prng_.unit()))};
    clock_.pass(time);
    if (prng_.chance(0.01)) clock_.set(clock_.now() + Duration::seconds(4000 * (prng_.unit() - 0.5)));
    disk_.set_time(clock_.now());
    trainer_.pass(time);
    set_faults();
    if (!healed_ && prng_.chance(0.01)) {
      disk_.die_after(0);
      return Watch::Woke::kStop;
    }
    return news();
  }

  /// What the kernel reports; of network file systems it reports nothing.
  Watch::Woke news() {
    Watch::Woke woke = Watch::Woke::kTimeout;
    for (RunFile& file : trainer_.files()) {
      if (file.renamed()) woke = Watch::Woke::kNames;
      if (file.written() && woke == Watch::Woke::kTimeout) woke = Watch::Woke::kChange;
      file.forget_news();
    }
    return prng_.chance(0.3) ? Watch::Woke::kTimeout : woke;
  }

  void set_faults() {
    // Towards the end the disk heals, or nothing could ever be checked.
    healed_ = trainer_.over() && ++after_ > kHealAfter;
    if (healed_) {
      disk_.set_faults({});
      disk_.die_after(UINT64_MAX);
    } else if (prng_.chance(0.05)) {
      disk_.set_faults({prng_.chance(0.3) ? 0.2 : 0, prng_.chance(0.3) ? 0.3 : 0, prng_.chance(0.3) ? 0.1 : 0,
                        prng_.chance(0.1) ? disk_.used() + prng_.below(500) : UINT64_MAX});
    }
    if (!healed_ && prng_.chance(0.03)) disk_.die_after(1 + prng_.below(12));
  }

  JournalContent held_in(const std::string& home) {
    JournalContent held(compares_ ? &knowledge_base_.knowledge() : nullptr);
    const auto runs = disk_.list(home + "/runs");
    if (!runs.ok() || runs->size() != 1) {
      wrong(home + " does not hold one run");
      return held;
    }
    const auto read = Journal::read(disk_, cat(home, "/runs/", runs->front(), "/journal"), held);
    if (!read.ok()) wrong(read.error().what);
    held.finish();
    return held;
  }

  void check() {
    disk_.set_faults({});
    disk_.die_after(UINT64_MAX);
    const JournalContent held = held_in("/watch");
    if (!held.wrong.empty()) return wrong(held.wrong);
    result_.digest = held.digest;
    const std::string live = state_text(last_->state), kept = state_text(held.state);
    if (live != kept) return wrong("the live state is not the journal's:" + difference(live, kept));
    if (compares_) check_judgements();
    if (compares_) check_undisturbed(held);
  }

  void check_judgements() {
    const auto runs = disk_.list("/watch/runs");
    JournalVerified again(knowledge_base_);
    const auto read = Journal::read(disk_, cat("/watch/runs/", runs->front(), "/journal"), again);
    if (!read.ok()) return wrong(read.error().what);
    again.verifier.finish();
    if (again.verifier.differing() > 0) wrong(cat("judged again: ", again.verifier.differences().front()));
  }

  /// A watch of the final files, by a process that nothing happens to.
  void check_undisturbed(const JournalContent& held) {
    SimWatch watch([this](Duration longest) {
      clock_.pass(longest);
      return Watch::Woke::kTimeout;
    });
    AttachRequest request = request_;
    request.home = "/reference";
    request.paths = held.paths();  // so that the files have the same numbers
    request.paths.emplace_back(kRun);
    const auto after = attach_run({disk_, clock_, watch, locks_}, knowledge_base_, request);
    if (!after.ok()) return wrong(after.error().what);
    const JournalContent reference = held_in("/reference");
    for (const auto& [path, lines] : reference.by_path) {
      result_.events += lines.size();
      // What is written between a poll and a truncation is lost for every watcher; a young log that is begun anew
      // with the same first bytes while nobody watches is taken for the old one.
      if (trainer_.copies() || trainer_.rewrote()) continue;
      const auto seen = held.by_path.find(path);
      if (seen == held.by_path.end()) return wrong(path + " was never read");
      if (framework_given_) {
        compare(path, lines, seen->second);
      } else {
        compare_records(path, lines, seen->second);
      }
    }
    if (!held.again.empty() && !trainer_.rewrote() && !trainer_.copies()) wrong(held.again + " was read twice");
    // Where only a counter shows that the trainer was started again, the order in which files are read decides what
    // belongs to which attempt.
    const bool clear = trainer_.starts() == 1 && !trainer_.rewrote() && !trainer_.copies();
    if (framework_given_ && clear) check_incidents((*after)->state);
  }

  /// The same events in the same order.
  void compare(const std::string& path, const JournalContent::Lines& expected, const JournalContent::Lines& seen) {
    for (size_t i = 0; i < std::max(expected.size(), seen.size()); ++i) {
      const std::string a = i < expected.size() ? expected[i].json : "nothing";
      const std::string b = i < seen.size() ? seen[i].json : "missing";
      if (a != b)
        return wrong(cat(path, ":", i < expected.size() ? expected[i].number : 0, ": should be ", a, "\n  and is ", b));
    }
  }

  /// Until the framework was known, its lines may have meant something else: none is recorded twice, most are recorded.
  void compare_records(const std::string& path, const JournalContent::Lines& expected,
                       const JournalContent::Lines& seen) {
    std::set<std::pair<uint64_t, std::string>> known;
    for (const JournalContent::Line& line : seen) {
      const bool fresh = known.emplace(line.number, line.json).second;
      if (!fresh && line.measured) return wrong(cat(path, ":", line.number, ": recorded twice: ", line.json));
    }
    if (seen.size() * 2 < expected.size())
      wrong(cat(path, ": ", expected.size(), " events, ", seen.size(), " recorded"));
  }

  /// Without stalls: who watches sees time pass without news, who reads the files afterwards does not.
  static std::string shown_incidents(const State& state) {
    std::vector<Incident> all = state.incidents;
    std::erase_if(all, [](const Incident& incident) { return incident.kind == "stall"; });
    return incidents_text(all);
  }

  void check_incidents(const State& after) {
    const State& live_state = last_->state;
    result_.split =
        live_state.attempts.size() != after.attempts.size() || live_state.sources.size() != after.sources.size();
    if (result_.split) return;
    const std::string live = shown_incidents(last_->state), later = shown_incidents(after);
    if (live != later)
      return wrong("who watched and who came later have different incidents:" + difference(live, later));
    if (last_->state.verdict != after.verdict && last_->state.verdict != "stalled" && after.verdict != "stalled") {
      wrong(cat("who watched says ", last_->state.verdict, ", who came later ", after.verdict));
    }
  }

  void wrong(std::string what) {
    if (result_.wrong.empty()) result_.wrong = std::move(what);
  }

  const KnowledgeBase& knowledge_base_;
  Prng prng_;
  FakeDisk disk_;
  FakeClock clock_;
  SimLocks locks_;
  Trainer trainer_;
  AttachRequest request_;
  bool compares_;
  std::unique_ptr<Replayed> last_;
  Verdict result_;
  bool framework_given_ = false, healed_ = false;
  int after_ = 0;
};

}  // namespace

Verdict run_seed(uint64_t seed, const KnowledgeBase& knowledge) {
  Verdict first = Run(seed, knowledge, true).go();
  const Verdict second = Run(seed, knowledge, false).go();
  if (first.wrong.empty() && first.digest != second.digest) first.wrong = "the same seed gave two different journals";
  return first;
}

}  // namespace mw::sim
