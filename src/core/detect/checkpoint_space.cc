// The next checkpoint will not fit on its disk.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/detect/support/saves.h"

namespace mw::detect {
namespace {

constexpr Knob kMargin{"margin", 1.05, "x", "A checkpoint is written whole before an old one goes", "own"};
constexpr Knob kLasts{"lasts", 120, "s", "After a save the oldest checkpoint may be deleted with some delay", "own"};
constexpr Knob kLeast{"least", kLeastCheckpoint, "bytes", "A smaller checkpoint is none: metadata, or a name only",
                      "report skyrl-biomni-monitor-cycles-2026-02-19: 412 KB that were all of one"};
constexpr Knob kRecent{"recent", kRecentCheckpoints, "checkpoints", "The largest of the last ones counts", "own"};
constexpr Knob kKnobs[] = {kMargin, kLasts, kLeast, kRecent};

/// Where a save went well although there was too little room before it, the run makes room by itself. Some trainers
/// only log that a save begins: then the step after it shows that it went well.
bool saved_between(const State& state, Time from, Time to) {
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& saved) {
    const Time at = saved.first.at;
    if (!at.known() || at <= from || at > to) return false;
    return saved.second.complete || std::any_of(state.anchors.begin(), state.anchors.end(), [&](const auto& anchor) {
             return anchor.first > at && anchor.first <= to;
           });
  });
}

/// "the save at step 40": by the run's own rhythm up to `at`; "the next save" when there is none.
std::string next_save(const State& state, Time at) {
  const int64_t step = next_save_step(state, at);
  return step == kNoStep ? "the next save" : cat("the save at step ", step);
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* sizes : host_series(state, "checkpoint.bytes")) {
    const Series* free = host_series(state, "disk.free", sizes->raw);
    if (free == nullptr) continue;
    EpisodeRule rule;
    rule.bad = [sizes](const Point& p) { return p.value < kMargin.value * bytes_needed(*sizes, p.at); };
    rule.good = [sizes](const Point& p) { return p.value >= kMargin.value * bytes_needed(*sizes, p.at); };
    rule.persist = Duration::seconds(kLasts.value);
    for (const Episode& episode : episodes(state, *free, rule)) {
      const Time until = episode.ended ? episode.ended->at : state.last_at;
      const bool makes_room = saved_between(state, episode.detected, until);
      Finding finding =
          host_finding(state, "checkpoint-space", "disk-pressure", Severity::kWarning, episode, *free,
                       cat("The next checkpoint will not fit: ", next_save(state, episode.detected), " needs about ",
                           format_bytes(bytes_needed(*sizes, episode.first.at)), " as the last ones did, and ",
                           format_bytes(episode.worst), " are free on ", free->raw));
      finding.resolved = finding.resolved || makes_room;
      finding.suggests.push_back({"ckpt-retention-not-pruning", 0.55, "checkpoints take the room of the next one"});
      finding.suggests.push_back({"disk-nearly-full", 0.5, "less is free than a checkpoint takes"});
      out.push_back(std::move(finding));
      if (makes_room) break;  // it did so once, and will again
    }
  }
}

}  // namespace

extern const Detector checkpoint_space;
const Detector checkpoint_space{"checkpoint-space",
                                "The next checkpoint will not fit on its disk, by the size of the last ones.",
                                {"disk-pressure"},
                                kKnobs,
                                judge};

}  // namespace mw::detect
