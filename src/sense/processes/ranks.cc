#include "sense/processes/ranks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "base/text.h"
#include "platform/process.h"
#include "sense/processes/process_snapshot.h"

namespace mw::components {
namespace {

constexpr int kRounds = 3;
constexpr auto kBetween = std::chrono::milliseconds(5);

/// What the main thread does, in words; "" when that is not to be seen.
std::string doing(System& system, int64_t pid) {
  const std::string place = cat("/proc/", pid, "/task/", pid);
  const auto stat = system.read(place + "/stat", 4096);
  const auto info = stat.ok() ? parse_process_stat(*stat) : Result<ProcessInfo>(stat.error());
  if (!info.ok()) return "";
  if (info->state == 'R') return "run";
  if (info->state == 'D') return "wait for a device (state D)";
  if (info->state != 'S') return cat("are in state ", std::string(1, info->state));
  const auto text = system.read(place + "/syscall", 512);
  const Call call = call_of(text.ok() ? *text : "");
  if (!call.name.empty()) return cat("wait in ", call.name);
  const auto kernel = system.read(place + "/wchan", 512);
  const std::string name = kernel.ok() ? clip(sanitize_utf8(trim(*kernel)), 80) : "";
  return name.empty() || name == "0" ? "sleep" : cat("wait in ", name);
}

}  // namespace

Ranks compare_ranks(System& system, const std::vector<int64_t>& pids) {
  Ranks ranks;
  if (pids.size() < kFewestRanks) return ranks;
  const size_t count = std::min(pids.size(), kRanks);
  std::vector<std::string> all(count);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) std::this_thread::sleep_for(kBetween);
    for (size_t i = 0; i < count; ++i) {
      const std::string now = doing(system, pids[i]);
      if (round == 0 || now.empty()) {
        all[i] = now;
      } else if (!all[i].empty() && all[i] != now) {
        all[i] = "run";  // now this, now that: it works, or spins
      }
    }
  }
  std::map<std::string, size_t> times;
  for (const std::string& one : all) ++times[one];
  times.erase("");
  for (const auto& [words, number] : times) {
    const size_t others = count - number;
    if (others == 0 || others > std::max<size_t>(1, count / 4)) continue;
    ranks.alike = number;
    ranks.doing = words;
    for (size_t i = 0; i < count; ++i) {
      if (all[i] != words && !all[i].empty()) ranks.odd.push_back(pids[i]);
    }
  }
  return ranks;
}

}  // namespace mw::components
