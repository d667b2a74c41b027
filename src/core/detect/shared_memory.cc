// /dev/shm is used up, or nearly: what is written there then dies with SIGBUS.
#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kNearly{"nearly", 0.1, "of /dev/shm", "A save that peaked at 68 % went well",
                       "report skyrl-biomni-monitor-2026-02-20"};
constexpr Knob kFull{"full", 0.01, "of /dev/shm", "The next page that is touched there is a SIGBUS", "own"};
constexpr Knob kLasts{"lasts", 20, "s", "Two looks: workers pass tensors through it in bursts", "own"};
constexpr Knob kRelief{"relief", 1.5, "x", "Free space must be so much above the bound to end it", "own"};
constexpr Knob kKnobs[] = {kNearly, kFull, kLasts, kRelief};

constexpr std::string_view kShared = "/dev/shm";

void look(const State& state, const Series& free, double total, bool full, std::vector<Finding>& out) {
  const double bound = (full ? kFull : kNearly).value * total;
  EpisodeRule rule;
  rule.bad = [bound](const Point& p) { return p.value < bound; };
  rule.good = [bound](const Point& p) { return p.value >= kRelief.value * bound; };
  rule.persist = Duration::seconds(kLasts.value);
  for (const Episode& episode : episodes(state, free, rule)) {
    Finding finding = host_finding(
        state, "shared-memory", "shm-exhausted", full ? Severity::kCritical : Severity::kWarning, episode, free,
        cat("/dev/shm is ", full ? "full: " : "nearly full: ", format_bytes(episode.worst), " of ", format_bytes(total),
            " are free; what is written there beyond that dies with SIGBUS"));
    finding.suggests.push_back({"shm-exhausted-torch", 0.6, "by the file system's own count"});
    finding.suggests.push_back({"shm-stale-segments", 0.4, "segments of processes that are gone take room too"});
    out.push_back(std::move(finding));
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const Series* free = host_series(state, "disk.free", kShared);
  const auto size = host_value(state, "disk.size", kShared, state.last_at);
  if (free == nullptr || !size || *size <= 0) return;
  look(state, *free, *size, false, out);
  look(state, *free, *size, true, out);
}

}  // namespace

extern const Detector shared_memory;
const Detector shared_memory{"shared-memory", "/dev/shm is used up, or nearly.", {"shm-exhausted"}, kKnobs, judge};

}  // namespace mw::detect
