// A disk that the run writes to is full, or nearly; or it can hold no more files.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kFull{"full", 64e6, "bytes",
                     "With less no checkpoint, log or socket can be written; of a small disk, what `share` says",
                     "own"};
constexpr Knob kShare{"share", 0.05, "of the disk", "Below this Ray spills no more objects and its tasks fail",
                      "Ray, local_fs_capacity_threshold 0.95"};
constexpr Knob kRoom{"room", 20e9, "bytes", "5 % of a large disk are room enough: it must be less than this, too",
                     "own; report skyrl-biomni-monitor-cycles-2026-02-19: 92 % used, 40 GB core dumps"};
constexpr Knob kFiles{"files", 0.02, "of the inodes", "Caches and extracted environments use them up in bursts", "own"};
constexpr Knob kLasts{"lasts", 60, "s", "Shorter is a temporary file", "own"};
constexpr Knob kRelief{"relief", 1.5, "x", "Free space must be so much above the bound to end it", "own"};
constexpr Knob kKnobs[] = {kFull, kShare, kRoom, kFiles, kLasts, kRelief};

constexpr std::string_view kName = "disk-space", kShared = "/dev/shm";

/// A disk of a few megabytes in memory is not full as long as most of it is free.
double full_below(double size) { return std::min(kFull.value, kShare.value * size); }

void judge_full(const State& state, const Series& series, double size, std::vector<Finding>& out) {
  const double bound = full_below(size);
  EpisodeRule rule;
  rule.bad = [bound](const Point& p) { return p.value < bound; };
  rule.good = [bound](const Point& p) { return p.value >= kRelief.value * bound; };
  for (const Episode& episode : episodes(state, series, rule)) {
    Finding finding =
        host_finding(state, kName, "disk-full", Severity::kCritical, episode, series,
                     cat("The disk ", series.raw, " is full: ", format_bytes(episode.first.value), " free"));
    finding.suggests.push_back({"enospc-generic", 0.7, "nothing more can be written"});
    out.push_back(std::move(finding));
  }
}

void judge_nearly(const State& state, const Series& series, double size, std::vector<Finding>& out) {
  const double bound = std::min(kShare.value * size, kRoom.value);
  EpisodeRule rule;
  rule.bad = [bound](const Point& p) { return p.value < bound; };
  rule.good = [bound](const Point& p) { return p.value >= kRelief.value * bound; };
  rule.persist = Duration::seconds(kLasts.value);
  for (const Episode& episode : episodes(state, series, rule)) {
    if (episode.first.value < full_below(size)) continue;  // reported as full
    const double used = std::clamp(1 - episode.first.value / size, 0.0, 1.0) * 100;
    Finding finding =
        host_finding(state, kName, "disk-pressure", Severity::kWarning, episode, series,
                     cat("The disk ", series.raw, " is ", format_short(used, 3),
                         " % full: ", format_bytes(episode.first.value), " of ", format_bytes(size), " are free"));
    finding.suggests.push_back({"disk-nearly-full", 0.7, "by the file system's own count"});
    out.push_back(std::move(finding));
  }
}

void judge_files(const State& state, const Series& series, double size, std::vector<Finding>& out) {
  const double bound = kFiles.value * size;
  EpisodeRule rule;
  rule.bad = [bound](const Point& p) { return p.value < bound; };
  rule.good = [bound](const Point& p) { return p.value >= kRelief.value * bound; };
  rule.persist = Duration::seconds(kLasts.value);
  for (const Episode& episode : episodes(state, series, rule)) {
    const bool none = episode.worst < 1;
    Finding finding = host_finding(state, kName, none ? "disk-full" : "disk-pressure",
                                   none ? Severity::kCritical : Severity::kWarning, episode, series,
                                   cat("The disk ", series.raw, " can hold ", episode.first.value, " more files of ",
                                       size, "; space alone does not help"));
    finding.suggests.push_back({"inode-exhaustion", 0.8, "by the file system's own count"});
    out.push_back(std::move(finding));
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* series : host_series(state, "disk.free")) {
    if (series->raw == kShared) continue;  // another chain: shared-memory
    const auto size = host_value(state, "disk.size", series->raw, state.last_at);
    if (!size || *size <= 0) continue;
    judge_full(state, *series, *size, out);
    judge_nearly(state, *series, *size, out);
  }
  for (const Series* series : host_series(state, "disk.inodes.free")) {
    const auto size = host_value(state, "disk.inodes.size", series->raw, state.last_at);
    if (size && *size > 0) judge_files(state, *series, *size, out);
  }
}

}  // namespace

extern const Detector disk_space;
const Detector disk_space{"disk-space",
                          "A disk that the run writes to is full or nearly so, by space or by number of files.",
                          {"disk-full", "disk-pressure"},
                          kKnobs,
                          judge};

}  // namespace mw::detect
