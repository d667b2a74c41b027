// Little memory is left, of the machine or up to the cgroup's limit: the kernel will kill the largest process next.
#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kLeft{"left", 0.05, "of the memory", "Ray's own monitor begins to kill workers here",
                     "Ray, memory_usage_threshold 0.95"};
constexpr Knob kLasts{"lasts", 60, "s", "A weight gather for a save peaks for some seconds and goes well", "own"};
constexpr Knob kRelief{"relief", 1.5, "x", "What is left must be so much above the bound to end it", "own"};
constexpr Knob kKnobs[] = {kLeft, kLasts, kRelief};

struct Memory {
  std::string_view free, size, of;
};
constexpr Memory kMemories[] = {{"cgroup.memory.free", "cgroup.memory.size", "of the memory that its cgroup may use"},
                                {"host.memory.free", "host.memory.size", "of the machine's memory"}};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Memory& memory : kMemories) {
    for (const Series* free : host_series(state, memory.free)) {
      const auto size = host_value(state, memory.size, free->raw, state.last_at);
      if (!size || *size <= 0) continue;
      const double bound = kLeft.value * *size;
      EpisodeRule rule;
      rule.bad = [bound](const Point& p) { return p.value < bound; };
      rule.good = [bound](const Point& p) { return p.value >= kRelief.value * bound; };
      rule.persist = Duration::seconds(kLasts.value);
      for (const Episode& episode : episodes(state, *free, rule)) {
        Finding finding = host_finding(state, "memory-limit", "host-out-of-memory", Severity::kWarning, episode, *free,
                                       cat("Only ", format_bytes(episode.worst), " of ", format_bytes(*size), " ",
                                           memory.of, " are left; at none the kernel kills a process"));
        finding.suggests.push_back({"host-memory-leak-trend", 0.5, "little is left, page cache not counted"});
        out.push_back(std::move(finding));
      }
    }
  }
}

}  // namespace

extern const Detector memory_limit;
const Detector memory_limit{"memory-limit",
                            "Little memory is left, of the machine or up to the cgroup's limit.",
                            {"host-out-of-memory"},
                            kKnobs,
                            judge};

}  // namespace mw::detect
