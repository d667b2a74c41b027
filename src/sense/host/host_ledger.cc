#include "sense/host/host_ledger.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

/// When a figure counts as changed, relative to the larger of its old value, its new one and `least`.
struct Rule {
  std::string_view prefix;  ///< of the signal
  double at_once;           ///< changes from this on are emitted in the round that shows them; never when above 1
  double in_time;           ///< from this on at most once a minute
  double least;             ///< in the signal's unit: what is smaller than this is noise
  bool mean = false;        ///< it swings: the mean since it was last emitted, rather than the last value
};
constexpr double kMega = 1e6;
constexpr Rule kRules[] = {
    {"host.oom_kills", 0, 0, 1},
    {"host.cpu", 2, 0.1, 0.5, true},
    {"host.memory", 0.1, 0.03, 1000 * kMega},
    {"cgroup.memory", 0.1, 0.03, 100 * kMega},
    {"pressure.", 2, 0.25, 0.2, true},
    {"disk.inodes", 0.1, 0.02, 1000},
    {"disk.silent", 0.5, 0.2, 1},
    {"disk.free", 0.1, 0.02, kMega},  // a disk in memory has a few megabytes in all
    {"disk.", 0.1, 0.02, 1000 * kMega},
    {"checkpoint.", 0.01, 0.01, 1},
    {"net.errors", 2, 0.5, 10, true},
    {"net.", 2, 0.25, 10 * kMega, true},
    {"log.silent", 0.5, 0.2, 1},
    {"step.", 0.2, 0.1, 1},
    {"process.cpu", 2, 0.1, 0.5, true},
    {"process.memory", 0.2, 0.05, 1000 * kMega},
    {"process.files", 0.02, 0.02, 1},
    {"process.blocked", 0.5, 0.2, 1},
    {"process.core_dump", 0.01, 0.01, 1},
    {"process.", 0.5, 0.1, 20},
    {"engine.kv_usage", 2, 0.1, 0.2, true},
    {"engine.tokens", 2, 0.2, 50, true},
    {"engine.", 2, 0.25, 4, true},
    {"scrape.", 0.05, 0.01, 1e-9},
    {"gpu.memory.busy", 2, 0.2, 0.05, true},
    {"gpu.memory", 0.1, 0.02, 1000 * kMega},
    {"gpu.ecc", 0, 0, 1},
    {"gpu.lost", 0, 0, 1},
    {"gpu.slowed", 2, 0.1, 0.5, true},
    {"gpu.busy", 2, 0.2, 0.5, true},
    {"gpu.power", 2, 0.15, 200, true},
    {"gpu.temperature", 2, 0.1, 50, true},
    {"gpu.clock", 2, 0.1, 500, true},
};
constexpr Rule kOther{"", 0.1, 0.05, 1};

const Rule& rule_of(std::string_view signal) {
  for (const Rule& rule : kRules) {
    if (signal.substr(0, rule.prefix.size()) == rule.prefix) return rule;
  }
  return kOther;
}

}  // namespace

void HostLedger::note(std::string_view signal, std::string_view thing, double value, Duration now,
                      std::vector<Reading>& emitted) {
  if (!std::isfinite(value)) return;
  const std::pair key{std::string(signal), std::string(thing)};
  auto known = figures_.find(key);
  const bool fresh = known == figures_.end();
  if (fresh) {
    if (figures_.size() >= kFigures) return;
    known = figures_.emplace(key, Figure{}).first;
  }
  Figure& figure = known->second;
  const Rule& rule = rule_of(signal);
  figure.sum += value;
  ++figure.count;
  const double now_is = rule.mean ? figure.sum / figure.count : value;
  const double scale = std::max({std::fabs(now_is), std::fabs(figure.emitted), rule.least});
  const double change = std::fabs(now_is - figure.emitted) / scale;
  const Duration age{now.ns - figure.at.ns};
  const bool minute = age >= kAtMost && change > 0 && change >= rule.in_time;
  const bool at_once = change > 0 && change >= rule.at_once;
  if (!fresh && !at_once && !minute && age < kAtLeast) return;
  figure = {now_is, 0, 0, now};
  emitted.push_back({std::string(signal), std::string(thing), now_is});
}

}  // namespace mw
