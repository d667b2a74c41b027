#include "sense/checkpoints/deep_read.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/text.h"
#include "platform/low_priority.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/stood_still.h"

namespace mw {
namespace {

using How = event::CheckpointRead::How;
using Verdict = CheckpointVerdict::State;
using Steady = std::chrono::steady_clock;

constexpr std::ptrdiff_t kTried = 64;  // checkpoints before and after one, of which there may be manifests
constexpr size_t kManifests = 8;       // of the nearest checkpoints beside one
constexpr Duration kSearches = Duration::seconds(2);      // between looks for a newer checkpoint
constexpr Duration kLongestSleep = Duration::seconds(1);  // so that a stop is soon heard

Duration since(Steady::time_point then) {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - then).count()};
}

/// Those beside it whose step is higher.
std::set<std::string> newer_beside(Disk& disk, const DeepJob& job) {
  std::set<std::string> out;
  for (const FoundCheckpoint& one : checkpoints_beside(disk, job.path)) {
    if (one.path != job.path && one.step != kNoStep && one.step > job.step) out.insert(one.path);
  }
  return out;
}

bool is_being_written(Disk& disk, const std::string& path, Time now) {
  const auto tree = CheckpointTree::read(disk, path);
  if (!tree.ok()) return false;
  return tree->files().empty() || (tree->newest().known() && now - tree->newest() < kStillWriting);
}

/// Of all that is wrong, what this reading can be sure of.
const CheckpointProblem* worst(const CheckpointVerdict& verdict, How* how) {
  const CheckpointProblem* found = nullptr;
  for (const CheckpointProblem& problem : verdict.problems) {
    if (!problem.breaks) continue;
    if (problem.trouble == Trouble::kDamaged && problem.depth == CheckDepth::kContent) {
      *how = How::kCorrupt;
      return &problem;
    }
    if (problem.depth == CheckDepth::kSane && found == nullptr) {
      *how = How::kSuspect;
      found = &problem;
    }
  }
  return found;
}

/// The nearest save before it that was read.
void compare_with_before(const CheckpointVerdict& verdict, const std::vector<CheckpointManifest>& others,
                         const DeepJob& job, event::CheckpointRead& read) {
  if (read.how != How::kSane || job.step == kNoStep) return;
  const CheckpointManifest* nearest = nullptr;
  for (const CheckpointManifest& other : others) {
    if (other.step == kNoStep || other.step >= job.step) continue;
    if (nearest == nullptr || other.step > nearest->step) nearest = &other;
  }
  if (nearest == nullptr) return;
  const auto passed = std::count_if(job.trained.begin(), job.trained.end(),
                                    [&](int64_t step) { return step > nearest->step && step <= job.step; });
  const StoodStill found = stood_still(*nearest, verdict.hashed, passed);
  read.what = found.what;
  if (found.breaks) read.how = How::kSuspect;
}

}  // namespace

void Pacer::rest(Duration worked) const {
  if (share_ >= 1 || share_ <= 0 || worked.ns <= 0) return;
  const double owed = static_cast<double>(worked.ns) * (1 / share_ - 1);
  sleep_({static_cast<int64_t>(owed)});
}

std::vector<std::string> nearest_beside(Disk& disk, const std::string& path, std::ptrdiff_t most) {
  return nearest_in(checkpoints_beside(disk, path), path, most);
}

std::vector<std::string> nearest_in(const std::vector<FoundCheckpoint>& all, const std::string& path,
                                    std::ptrdiff_t most) {
  const int64_t named = step_of_name(basename(path)), step = named == kNoStep ? step_of_file(basename(path)) : named;
  const auto first = std::lower_bound(all.begin(), all.end(), step,
                                      [](const FoundCheckpoint& one, int64_t wanted) { return one.step < wanted; });
  const auto own = std::find_if(first, all.end(), [&path](const FoundCheckpoint& one) { return one.path == path; });
  std::vector<std::string> out;
  if (own == all.end()) return out;
  for (std::ptrdiff_t by = 1; by <= most; ++by) {
    if (own - all.begin() >= by) out.push_back((own - by)->path);
    if (all.end() - own > by) out.push_back((own + by)->path);
  }
  return out;
}

std::vector<CheckpointManifest> manifests_beside(Disk& disk, const std::string& home, const std::string& path) {
  std::vector<CheckpointManifest> out;
  const std::vector<FoundCheckpoint> files = files_beside(disk, path);
  for (const std::string& one : files.empty() ? nearest_beside(disk, path, kTried) : nearest_in(files, path, kTried)) {
    if (out.size() == kManifests) break;
    auto manifest = load_manifest(disk, home, one);
    if (!manifest.ok() || !is_sound(*manifest)) continue;
    if (!files.empty() && manifest->files.size() == 1) {  // a file that is one: each has its step in its name
      manifest->step = step_of_file(basename(one));
      manifest->files.front().path = basename(path);
    }
    out.push_back(std::move(*manifest));
  }
  return out;
}

bool may_be_remembered(const CheckpointVerdict& verdict, const CheckpointManifest* earlier) {
  if (verdict.depth != CheckDepth::kSane || verdict.hashed.size() != verdict.files) return false;
  if (verdict.state == Verdict::kWhole || verdict.state == Verdict::kSuspect || verdict.state == Verdict::kUnknown)
    return true;
  How how = How::kSane;
  const CheckpointProblem* const problem = worst(verdict, &how);
  if (verdict.state != Verdict::kCorrupt || problem == nullptr || how != How::kCorrupt) return false;
  if (earlier == nullptr || !is_sound(*earlier)) return true;
  return std::any_of(earlier->files.begin(), earlier->files.end(), [&](const ManifestFile& then) {
    const auto now = std::find_if(verdict.hashed.begin(), verdict.hashed.end(),
                                  [&](const ManifestFile& one) { return one.path == then.path; });
    return now == verdict.hashed.end() || now->changed != then.changed || now->bytes != then.bytes;
  });
}

event::CheckpointRead read_of(const CheckpointVerdict& verdict, const DeepJob& job) {
  event::CheckpointRead read;
  read.step = job.step;
  read.path = job.path;
  read.bytes = static_cast<int64_t>(verdict.deep.bytes);
  How how = How::kSane;
  if (const CheckpointProblem* problem = worst(verdict, &how); problem != nullptr) {
    read.what = cat(problem->path, problem->path.empty() ? "" : ": ", problem->what);
  } else if (verdict.depth != CheckDepth::kSane || verdict.hashed.size() != verdict.files) {
    how = How::kSkipped;
    read.what = "not all of it could be read";
  } else if (verdict.state != Verdict::kWhole && verdict.state != Verdict::kUnknown) {
    how = How::kSkipped;
    const bool named = !verdict.problems.empty() && verdict.problems.front().breaks;
    read.what = cat("its structure is ", word_of(verdict.state),
                    named ? cat(": ", verdict.problems.front().path, ": ", verdict.problems.front().what) : "");
  }
  read.how = how;
  return read;
}

DeepRead read_deeply(Disk& disk, const DeepJob& job, const std::atomic<bool>& stop) {
  lower_own_priority();
  const Steady::time_point began = Steady::now();
  DeepRead out;
  const std::set<std::string> newer = newer_beside(disk, job);
  for (const std::string& one : newer) {
    if (is_being_written(disk, one, job.now)) return out;
  }
  const CheckpointScan before = scan_checkpoint(disk, job.path, job.step, nullptr);
  const auto earlier = load_manifest(disk, job.home, job.path);
  const std::vector<CheckpointManifest> others = manifests_beside(disk, job.home, job.path);
  VerifyOptions options;
  options.deep = true;
  options.now = job.now;
  options.earlier = earlier.ok() && is_sound(*earlier) ? &*earlier : nullptr;
  for (const CheckpointManifest& other : others) options.others.push_back(&other);
  // Nothing is compared with the bytes of its neighbours: frozen weights would be read twice more, and without a rest.
  bool overtaken = false;
  const auto sleep = [&](Duration all) {
    for (Duration left = all; left.ns > 0 && !stop.load() && !overtaken;) {
      const Duration now{std::min(left.ns, kLongestSleep.ns)};
      job.sleep ? job.sleep(now) : std::this_thread::sleep_for(std::chrono::nanoseconds(now.ns));
      left.ns -= now.ns;
    }
  };
  const Pacer pacer(job.share, sleep);
  Steady::time_point worked = Steady::now(), searched = worked;
  options.progress = [&](int64_t, int64_t) {
    pacer.rest(since(worked));
    if (since(searched) > kSearches) {
      searched = Steady::now();
      overtaken = newer_beside(disk, job) != newer;
    }
    worked = Steady::now();
    return !stop.load() && !overtaken;
  };
  const auto verdict = verify_checkpoint(disk, job.path, options);
  if (stop.load() || overtaken) {
    out.how = DeepRead::How::kStopped;
    return out;
  }
  if (!verdict.ok() || verdict->state == Verdict::kWriting) return out;
  out.how = DeepRead::How::kRead;
  out.read = read_of(*verdict, job);
  compare_with_before(*verdict, others, job, out.read);
  out.read.tree_state = before.state;
  out.read.seconds = since(began).seconds();
  // Nobody reads here that a text was mended since: that is recorded where a person asks.
  const bool mended = std::any_of(verdict->problems.begin(), verdict->problems.end(), [](const CheckpointProblem& one) {
    return one.trouble == Trouble::kChanged && !one.breaks && one.depth == CheckDepth::kContent;
  });
  if (!mended && may_be_remembered(*verdict, earlier.ok() ? &*earlier : nullptr))
    (void)save_manifest(disk, job.home, manifest_of(*verdict, job.now)).ok();
  return out;
}

}  // namespace mw
