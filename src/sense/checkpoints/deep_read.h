// Reads every byte of one checkpoint beside a training: at the lowest priority, and for a share of the time only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/event.h"
#include "platform/disk.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/verify.h"

namespace mw {

struct DeepJob {
  std::string path;
  int64_t step = kNoStep;
  std::string home;                               ///< below which manifests are kept
  double share = 1;                               ///< of the time in which it reads; it sleeps for the rest
  Time now;                                       ///< by the wall clock
  std::function<void(Duration)> sleep = nullptr;  ///< unset: the thread sleeps
  std::vector<int64_t> trained = {};              ///< steps that were trained at a learning rate above 0, ascending
};

struct DeepRead {
  enum class How {
    kRead,  ///< `read` says what was found
    kBusy,  ///< a newer checkpoint beside it is being written, or it changed itself: ask again later
    kStopped
  };
  How how = How::kBusy;
  event::CheckpointRead read;
};

/// As `midwatch checkpoint verify --deep` does, in one thread, and remembers its checksums in a manifest. Stops where
/// `stop` is set or a newer checkpoint appears beside it.
///
/// Suspect: numbers of its weights are not finite, or their norm is not that of the save before. Corrupt: bytes do not
/// have the checksum that is stored with them. What else speaks against it is left to those who judge its structure.
/// Sane, with a `what`: it can be resumed from, and something stood still since the save before (stood_still.h).
DeepRead read_deeply(Disk& disk, const DeepJob& job, const std::atomic<bool>& stop);

/// What the verdict of a deep verification says of the checkpoint's numbers and bytes.
event::CheckpointRead read_of(const CheckpointVerdict& verdict, const DeepJob& job);

/// The manifests of the checkpoints whose saves were next to its own, the nearest first.
std::vector<CheckpointManifest> manifests_beside(Disk& disk, const std::string& home, const std::string& path);
/// May this verdict be remembered in place of what is known of it (nullptr: nothing is)? Where all of it was read, and
/// it is sound; and where bytes contradict their own checksums, so that nobody ships it, unless a sound one of the same
/// files is known: that says more.
bool may_be_remembered(const CheckpointVerdict& verdict, const CheckpointManifest* earlier);
/// Those whose saves were next to its own, the nearest first, `most` before it and as many after it.
std::vector<std::string> nearest_beside(Disk& disk, const std::string& path, std::ptrdiff_t most);
/// Likewise of `all` that lie in its folder, by step.
std::vector<std::string> nearest_in(const std::vector<FoundCheckpoint>& all, const std::string& path,
                                    std::ptrdiff_t most);

/// Of each stretch of time in which work is done it sleeps so long that the work takes `share` of the whole.
class Pacer {
 public:
  Pacer(double share, std::function<void(Duration)> sleep) : share_(share), sleep_(std::move(sleep)) {}
  /// The work of `worked` is done.
  void rest(Duration worked) const;

 private:
  double share_;
  std::function<void(Duration)> sleep_;
};

}  // namespace mw
