// A process of the run waits for a device and does not come back, or a disk does not answer at all; and no step is
// done.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kBlocked{"blocked", 300, "s", "Writing a large checkpoint to a slow disk waits long, but in pieces",
                        "Linux says \"blocked for more than 120 seconds\""};
constexpr Knob kSilent{"silent", 60, "s", "A file system that is only slow returns its free space within that",
                       "own; NFS tries again every 60 s"};
constexpr Knob kKnobs[] = {kBlocked, kSilent};

/// Was a step done in the time in which it seemed stuck?
bool went_on(const State& state, Time from, Time to) {
  return std::any_of(state.anchors.begin(), state.anchors.end(),
                     [&](const auto& anchor) { return anchor.first > from && anchor.first <= to; });
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const auto look = [&](std::string_view signal, const Knob& bound, auto&& text, std::string_view reason) {
    for (const Series* series : host_series(state, signal)) {
      EpisodeRule rule;
      rule.bad = [&bound](const Point& p) { return p.value >= bound.value; };
      rule.good = [](const Point& p) { return p.value <= 0; };
      rule.low = false;
      for (const Episode& episode : episodes(state, *series, rule)) {
        const Time began = episode.first.at + Duration::seconds(-episode.first.value);
        if (went_on(state, began, episode.detected)) continue;
        Finding finding = host_finding(state, "blocked-process", "stall", Severity::kWarning, episode, *series,
                                       text(series->raw, format_duration(Duration::seconds(episode.first.value))));
        finding.suggests.push_back({"nfs-server-not-responding", 0.6, std::string(reason)});
        out.push_back(std::move(finding));
      }
    }
  };
  look(
      "process.blocked", kBlocked,
      [](const std::string& thing, const std::string& time) {
        return cat(thing, " has waited for a disk or a driver for ", time, " (state D) without running at all");
      },
      "a process in state D waits for a device");
  look(
      "disk.silent", kSilent,
      [](const std::string& thing, const std::string& time) {
        return cat("The disk of ", thing, " has not answered for ", time);
      },
      "the file system does not even return its free space");
}

}  // namespace

extern const Detector blocked_process;
const Detector blocked_process{"blocked-process",
                               "A process waits for a device and does not come back, or a disk does not answer.",
                               {"stall"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
