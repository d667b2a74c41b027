// Looks at a checkpoint on the disk: is it whole, as far as its files can prove? Weights are not read, only sampled;
// pickles are never run.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/event.h"
#include "platform/disk.h"
#include "sense/checkpoints/verify.h"

namespace mw {

/// What one scan found. `seen.path` is the folder, or the file, that was asked for.
struct CheckpointScan {
  bool there = false;  ///< it is there, and a folder could be listed; else nothing else is known
  event::CheckpointSeen seen;
  uint64_t state = 0;             ///< of names, sizes and times: the same number means that nothing changed in between
  Time newest;                    ///< when a file of it was changed last
  Time touched;                   ///< likewise, or a name in its folders; of one that is broken or holds no weights
  std::set<std::string> weights;  ///< names of the files of weights within it, its own step as '#'
  std::set<std::string> parts;    ///< likewise of the .metadata files
  bool may_hold_weights = false;  ///< a file in it is no settings, as far as its name shows
  bool settings_only = true;      ///< every file is settings or an optimizer's, as far as its name shows
  bool verified = false;          ///< verify_checkpoint() calls it whole
  bool resumable = false;         ///< likewise, and its trainer could resume from it
  bool partial = false;           ///< not all of it could be seen: it cannot be read, or went meanwhile
  bool doubtful = false;          ///< verify_checkpoint() finds something wrong, or `seen.lacks` is not empty
};

/// Unknown is not broken: it is broken only where a file's own format, or its own framework's list, shows that
/// something is lost, whatever the layout. That is when
///  - the folder is empty, or a marker file says that it is not finished (transformers' checkpoint-is-incomplete.txt);
///  - a file that can only hold weights is empty, holds nothing but zeros where torch.save would not, or is cut
///    (safetensors: by its header; torch.save: its directory at the end is missing);
///  - of the files that an index, or a .metadata of torch.distributed.checkpoint, names, some are there and some not,
///    or one ends before that .metadata says;
///  - `before` has what this one cannot do without: weights, where this one has nothing but settings; the .metadata
///    beside the same .distcp files; all of the ranks that both say there are.
/// Nothing that is not there counts where not all could be seen (a dangling link, a folder of somebody else). Exports
/// for others to use (folders "huggingface", "export", "best", …) are not looked into: nothing resumes from them. NaN,
/// an optimizer that is not in every save, other sizes, fewer ranks and unknown names are no sign.
/// It is whole when no such thing is seen, at least one file of weights proved to be, and verify_checkpoint() finds
/// nothing wrong, which knows what each framework writes last. What that finds breaks it where it found nothing in
/// `before`: then it knows how this run saves. Where `before` has all that a resume needs, and this one has not, that
/// is `seen.lacks`, and it is not whole. Where there is no such `before`, and
/// nothing in this one can hold weights, what verify_checkpoint() finds is `seen.doubt`. `step`: its own, or
/// kNoStep. `before`: one beside it that is not broken, or nullptr. `verdict`: what verify_checkpoint() found,
/// where it was asked and had an answer. `how`: with what it compares, besides `before`.
CheckpointScan scan_checkpoint(Disk& disk, const std::string& folder, int64_t step, const CheckpointScan* before,
                               std::optional<CheckpointVerdict>* verdict = nullptr, const VerifyOptions& how = {});

/// Nothing was taken out of `broken` since `next`, a whole one that was saved after it, was done: it never was whole.
/// What a framework clears away it clears away once the save that takes its place is there.
inline bool never_was_whole(const CheckpointScan& broken, const CheckpointScan& next) {
  return broken.touched.known() && broken.touched <= next.newest;
}

}  // namespace mw
