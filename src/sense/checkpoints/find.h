// Which checkpoints lie in a place: one that a person names, or a folder that holds many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "platform/disk.h"

namespace mw {

struct FoundCheckpoint {
  std::string path;
  int64_t step = kNoStep;  ///< by its name
};

/// `path` itself where it is one by its name or its files, or a file; else those in it that are a file each, or below
/// it, a few folders deep, by step. `path` alone where none is found: whoever reads it says what it is. An error where
/// it is not there.
Result<std::vector<FoundCheckpoint>> find_checkpoints(Disk& disk, const std::string& path);

/// The step that a name such as "ckpt_300.pt", "step-40.safetensors" or "epoch=1-step=200.ckpt" says; kNoStep for
/// others: also for parts of one checkpoint, as far as their names show that.
int64_t step_of_file(std::string_view name);
/// The pattern that all of these names have, "ckpt_{step}.pt", "step-{step:06}.ckpt"; "" where there is none.
std::string pattern_of_files(const std::vector<std::string>& names);
/// Of a folder in which a trainer puts one file of weights for each step: these files, by step, and others of weights
/// there that are checkpoints, too ("best.pt"). Nothing where its files are, or may be, those of one checkpoint.
std::vector<FoundCheckpoint> checkpoint_files_in(Disk& disk, const std::string& folder,
                                                 const std::vector<std::string>& names);

/// Does the number in its name count saves, and say no step? accelerate's own names do: "checkpoints/checkpoint_3".
bool counts_saves(const std::string& checkpoint);

/// By names that no folder of many checkpoints has in it, as weights or an optimizer: whose folder is this?
bool is_checkpoint_by_names(const std::vector<std::string>& names);

/// By what lies in a folder "actor": one of verl's, in which FSDP or Megatron saved?
bool is_part_of_verl(const std::vector<std::string>& names);

/// Those that lie beside a checkpoint, itself included, by step; nothing where it is named by no step. Folders.
std::vector<FoundCheckpoint> checkpoints_beside(Disk& disk, const std::string& checkpoint);

/// Files that are checkpoints of other steps beside this one, itself included, by step: their names differ in numbers.
std::vector<FoundCheckpoint> files_beside(Disk& disk, const std::string& file);

/// The checkpoint that a link such as `latest` leads to, beside it or elsewhere; `path` itself where it is none.
std::string behind_link(Disk& disk, const std::string& path);

/// A framework's file that names its newest checkpoint.
struct CheckpointPointer {
  std::string path;
  std::string text;            ///< as it stands there, trimmed; "": it is empty
  int64_t step = kNoStep;      ///< that it names; kNoStep: it names none
  bool leads_nowhere = false;  ///< it is a link to what is not there
  bool is_folder = false;      ///< where its trainer reads a file
  bool unread = false;         ///< it is there, and may not be read
};
/// Those in the folder that holds `checkpoint`.
std::vector<CheckpointPointer> pointers_beside(Disk& disk, const std::string& checkpoint);
/// Does a pointer that names no step name something that is there: what lies beside it, or elsewhere by a whole path?
/// Its own folder, those above it and bytes that are no text are nothing to resume from. A path of several folders may
/// begin where the trainer works: it is taken for right where it leads somewhere from the pointer's folder or one above
/// it, or where what it ends with lies beside the pointer.
bool names_something(Disk& disk, const CheckpointPointer& pointer);
/// Is there nothing by that relative path, in `folder` and in each folder above it? False where a disk does not say.
bool leads_nowhere(Disk& disk, const std::string& folder, std::string_view text);
/// It holds zeros and nothing else: what was written into it never reached the disk.
bool is_zeros(const CheckpointPointer& pointer);
/// The name of the pointer that this framework writes with each save, and without which it resumes from nothing by
/// itself; "" where it has none.
std::string_view pointer_of(std::string_view framework);

}  // namespace mw
