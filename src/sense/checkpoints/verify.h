// Is a checkpoint whole? Reads the files and says which depth was reached, what is wrong in which file, and whether its
// trainer could resume from it. Nothing is run, nothing is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sense/checkpoints/deep_check.h"
#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/save_order.h"

namespace mw {

struct CheckpointVerdict {
  enum class State : uint8_t {
    kWhole,    ///< all that its files call for is there, as deep as was looked
    kWriting,  ///< not whole, and changed so lately that it may still become it
    kPartial,  ///< something is missing or cut
    kCorrupt,  ///< bytes contradict each other, a checksum or an earlier verification; or are of different steps
    kSuspect,  ///< whole, and its numbers are not sane, or a file of it seems to be another checkpoint's
    kUnknown,  ///< nothing speaks against it, and not all of it can be read
    kForeign   ///< no checkpoint
  };
  enum class Resumable : uint8_t { kYes, kNo, kUnknown };

  std::string path;
  State state = State::kUnknown;
  Resumable resumable = Resumable::kUnknown;
  int64_t step = kNoStep;
  std::string framework;                       ///< "" where none is recognised
  std::vector<std::string> layouts;            ///< "safetensors, sharded", …
  CheckDepth depth = CheckDepth::kStructural;  ///< the deepest that was reached
  std::vector<CheckpointProblem> problems;     ///< what breaks first
  uint64_t problems_in_all = 0;
  std::vector<std::string> notes;
  std::vector<Piece> pieces, lacks;  ///< of what a trainer needs to resume: there; missing
  uint64_t files = 0;
  int64_t bytes = 0;
  Time newest;  ///< when the latest of its files was written
  uint64_t tree_state = 0;
  DeepFigures deep;                  ///< with `deep`
  std::vector<ManifestFile> hashed;  ///< likewise
  bool compared = false;             ///< with an earlier manifest, of `compared_at`
  std::vector<std::string> beside;   ///< checkpoints beside it, with whose files samples were compared
  Time compared_at;
  CountedSteps counted;
  bool half_saved_over = false;  ///< one of `attempts` ended while it saved over an earlier save of this step
};
std::string_view word_of(CheckpointVerdict::State state);
/// "optimizer, scheduler": what a resume needs and is not in it; "" where it can be resumed from, or nobody knows.
std::string lacks_of(const CheckpointVerdict& verdict);

struct VerifyOptions {
  bool deep = false;
  int threads = 1;                              ///< of `deep`
  Time now;                                     ///< by the wall clock
  const CheckpointManifest* earlier = nullptr;  ///< of the same path
  std::vector<std::string> beside;              ///< checkpoints beside it, the nearest first
  std::string newest;  ///< the one of the highest step beside it, where that is known; "": its folder is listed for it
  std::string before;  ///< where `beside` is empty: a whole one that was saved before it; "": none is known
  std::vector<const CheckpointManifest*> others;  ///< of checkpoints beside it: whose bytes a changed file may have,
                                                  ///< and how large weights were
  std::vector<EndedAttempt> attempts;             ///< of the run that saves here; none where that is not known
  CheckProgress progress;
  /// Who has a file at or below that path open to write, in words; "" for nobody. Asked where something is wrong.
  std::function<std::string(const std::string& path)> writer;
};

/// In how short a time after its last write something that is not whole counts as being written (as of the live watch).
constexpr Duration kStillWriting = Duration::seconds(60);

/// An error only where the path is not there or cannot be listed.
Result<CheckpointVerdict> verify_checkpoint(Disk& disk, const std::string& path, const VerifyOptions& options);

CheckpointManifest manifest_of(const CheckpointVerdict& verdict, Time at);

}  // namespace mw
