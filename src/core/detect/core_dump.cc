// Core dumps of the run's processes take the disk's room.
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kLarge{"large", 1e9, "bytes",
                      "One of a training process holds all of its host memory, and a retry leaves another",
                      "report skyrl-biomni-monitor-cycles-2026-02-19: 9 GB and 40 GB, and the next save wrote 412 KB"};
constexpr Knob kKnobs[] = {kLarge};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* dump : host_series(state, "process.core_dump")) {
    EpisodeRule rule;
    rule.bad = [](const Point& p) { return p.value > 0; };
    rule.good = [](const Point& p) { return p.value <= 0; };
    rule.low = false;
    for (const Episode& episode : episodes(state, *dump, rule)) {
      const Severity severity = episode.first.value >= kLarge.value ? Severity::kWarning : Severity::kInfo;
      Finding finding =
          host_finding(state, "core-dump", "disk-pressure", severity, episode, *dump,
                       cat("A core dump of ", format_bytes(episode.first.value), " appeared: ", dump->raw));
      finding.suggests.push_back({"core-dump-fills-disk", 0.8, "a process was ended by a signal and left it"});
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector core_dump;
const Detector core_dump{
    "core-dump", "Core dumps of the run's processes take the disk's room.", {"disk-pressure"}, kKnobs, judge};

}  // namespace mw::detect
