// Core dumps that fill a disk.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr double kSmall = 1e9;  // bytes: a dump of less fills nothing

/// The folder that dumps go to; "" where a program takes them.
std::string folder_of_pattern(const std::string& pattern, const std::string& working) {
  if (pattern.empty() || pattern.front() == '|') return "";
  return pattern.front() == '/' ? folder_of(pattern) : working;
}

void check_cores(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const Host& host = facts.host;
  if (!host.is_here || host.core_bytes.value_or(0) < kSmall || host.core_pattern.empty()) return;
  const std::string folder = folder_of_pattern(host.core_pattern, facts.folder);
  if (folder.empty()) return;
  double free = INFINITY;
  for (const DiskSpace& disk : host.disks) {
    if (disk.folder == folder || disk.what == "core dumps") free = std::min(free, disk.free);
  }
  const double memory = host.memory.value_or(INFINITY);
  if (free >= 2 * memory) return;
  Finding finding = finding_at(lint, Level::kWarning, nullptr,
                               cat("a process that crashes leaves a core dump as large as its memory in ", folder,
                                   std::isfinite(free) ? cat(", which has ", format_bytes(free), " free") : "",
                                   " (core_pattern ", clip(host.core_pattern, 60), ")"),
                               "ulimit -c 0 in front of the command");
  finding.on_machine = true;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint core_dumps;
const Lint core_dumps = {"core-dumps",
                         Level::kWarning,
                         "Core dumps are written in full, to a disk that they can fill.",
                         "Eight ranks that crash together write eight times their memory; the disk is full, and the "
                         "next save fails as well.",
                         "core(5); a SkyRL run of 2026-02 whose root disk was filled so",
                         check_cores};
}  // namespace lints

}  // namespace mw::preflight
