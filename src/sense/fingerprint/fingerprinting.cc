#include "sense/fingerprint/fingerprinting.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "core/changes.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr size_t kSaid = 4;  // differences in the sentence that is said
constexpr Duration kNothingDue = Duration::seconds(3600);

}  // namespace

std::vector<std::function<Fingerprint()>> collectors_of(const Subject& subject) {
  return {[subject] { return collect_quickly(*make_posix_system(), subject); },
          [subject] { return collect_code(subject); },
          [subject] { return collect_disks(*make_posix_system(), subject); }};
}

Result<Fingerprint> Fingerprinting::read(int attempt) const {
  const auto text = read_small(disk_, path(attempt));
  if (!text.ok()) return text.error();
  return parse_fingerprint(*text);
}

void Fingerprinting::begin(int attempt, const State& state, EventWriter& writer) {
  attempt_ = attempt;
  if (const auto known = read(attempt); known.ok()) return report(*known, state, writer, false);
  taking_ = true;
  began_ = clock_.steady();
  taken_ = {};
  taken_.attempt = attempt;
  taken_.at = clock_.now();
  out_.clear();
  for (auto& collector : scope_.collectors(attempt)) out_.emplace_back().start(std::move(collector));
}

/// False while collectors are still running.
bool Fingerprinting::collect() {
  bool all = true;
  for (BackgroundCall<Fingerprint>& collector : out_) {
    if (auto seen = collector.take()) merge(taken_, std::move(*seen));
    all = all && !collector.started();
  }
  return all;
}

void Fingerprinting::finish(const State& state, EventWriter& writer) {
  taking_ = false;
  if (std::any_of(out_.begin(), out_.end(), [](const auto& collector) { return collector.started(); })) {
    taken_.missing.emplace_back("some of it did not answer in time (a disk that hangs, a large repository)");
  }
  out_.clear();
  if (const auto kept = scope_.write_file(path(attempt_), fingerprint_text(taken_)); !kept.ok()) {
    scope_.say(cat("the fingerprint of attempt ", attempt_, " is not kept: ", kept.error().what));
  }
  report(taken_, state, writer, true);
}

void Fingerprinting::report(const Fingerprint& now, const State& state, EventWriter& writer, bool aloud) {
  Result<Fingerprint> before = Error{};
  int other = attempt_;
  while (!before.ok() && --other >= 0) before = read(other);
  if (!before.ok()) return;
  std::vector<event::Changed> changes;
  for (Difference& one : differences(*before, now)) {
    changes.push_back(
        {attempt_, std::move(one.what), std::move(one.name), std::move(one.before), std::move(one.after)});
  }
  // 0: on another machine, perhaps.
  const std::string whom = other > 0 ? cat("attempt ", other) : std::string("the run that shipped its checkpoint");
  std::string sentence = cat("attempt ", attempt_, " differs from ", whom, ": ");
  for (size_t i = 0; i < changes.size() && i < kSaid; ++i) sentence += (i == 0 ? "" : "; ") + change_text(changes[i]);
  if (changes.size() > kSaid) sentence += cat("; and ", changes.size() - kSaid, " more (midwatch report shows them)");
  if (changes.empty()) {
    changes.push_back({attempt_, "nothing", "", "", ""});
    sentence = cat("attempt ", attempt_, " differs from ", whom, " in nothing that midwatch compares");
  }
  // A midwatch before this one may have been killed while it recorded them.
  for (event::Changed& change : changes) {
    const bool known =
        std::any_of(state.changes.begin(), state.changes.end(), [&change](const event::Changed& recorded) {
          return recorded.attempt == change.attempt && recorded.what == change.what && recorded.name == change.name;
        });
    if (!known) writer.changed(std::move(change));
  }
  if (aloud) scope_.say(sentence);
}

std::optional<Duration> Fingerprinting::turn(const State& state, bool, EventWriter& writer) {
  const int attempt = scope_.attempt();
  if (attempt != attempt_) {
    if (taking_) {
      (void)collect();
      finish(state, writer);
    }
    begin(attempt, state, writer);
  }
  if (!taking_) return kNothingDue;
  if (collect() || clock_.steady().ns - began_.ns >= kLimit.ns) finish(state, writer);
  return taking_ ? kPoll : kNothingDue;
}

void Fingerprinting::over(const State& state, EventWriter& writer) {
  if (!taking_) return;
  const Duration until{clock_.steady().ns + kLastLimit.ns};
  while (!collect() && clock_.steady().ns < until.ns) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  finish(state, writer);
}

}  // namespace mw
