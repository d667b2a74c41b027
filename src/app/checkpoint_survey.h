// Looks at checkpoints one after another for a person who asks, and finds which of them a resume should take.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/requests.h"
#include "app/pointer_notes.h"
#include "base/result.h"
#include "platform/disk.h"
#include "platform/system.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/verify.h"

namespace mw {

/// One way to write a path: what is remembered of a checkpoint is found by it.
std::string plain_path(const std::string& path);

/// Half of the processors, two at least and four at most: a training may go on beside it, and a disk gives no more.
int survey_threads();

class CheckpointSurvey {
 public:
  using Checkpoint = CheckpointsAnswer::Checkpoint;

  /// `now`: by the wall clock. `request` must outlive it.
  CheckpointSurvey(Disk& disk, const CheckpointsRequest& request, Time now);

  /// As deep as the request says.
  Result<Checkpoint> look(const std::string& path) { return look(path, request_.deep); }
  /// Where to resume from, if not from the newest: that is not whole, is tainted, or lacks what an older one has.
  void find_resume(CheckpointsAnswer& answer);

 private:
  Result<Checkpoint> look(const std::string& path, bool deep);
  /// What lies beside it, for its own words: pointers, the other role of its step.
  void note_beside(Checkpoint& out);
  void find_whole(CheckpointsAnswer& answer);
  void note_renamed(CheckpointsAnswer& answer);
  void find_other(const Checkpoint& broken, const Checkpoint* newer, CheckpointsAnswer& answer);
  bool find_resumable(Checkpoint& newest, CheckpointsAnswer& answer);
  void prefer_resumable(CheckpointsAnswer& answer);
  bool offer(const FoundCheckpoint& found, const Checkpoint& one, CheckpointsAnswer& answer);
  const CheckpointNeighbours& neighbours(const std::string& folder);
  std::vector<FoundCheckpoint> siblings(const Checkpoint& broken, bool* exports);
  Result<Checkpoint> known_or_looked_at(const std::string& path, const CheckpointsAnswer& answer);
  bool is_untouched(const CheckpointManifest& then);
  bool resumes_from_slot(const std::string& slot, const Checkpoint& broken, CheckpointsAnswer& answer);
  std::vector<Checkpoint> parts_of(const FoundCheckpoint& one);
  void remember(const CheckpointVerdict& verdict, const CheckpointManifest* earlier, Checkpoint& out);

  Disk& disk_;
  const CheckpointsRequest& request_;
  Time now_;
  std::string home_;
  std::map<std::string, CheckpointNeighbours> neighbours_;  // by folder
  std::unique_ptr<System> system_ = make_posix_system();
};

}  // namespace mw
