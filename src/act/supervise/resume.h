// {resume} in a supervised command: which checkpoint the next attempt resumes from, and the arguments that say so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

inline constexpr std::string_view kResumeWord = "{resume}";

/// Does the command leave it to midwatch to say what to resume from?
bool asks_to_resume(const std::vector<std::string>& command);
/// Do the words that stand for {resume} name a checkpoint? Else they only let the trainer resume, from what its pointer
/// names ("--load_checkpoint"). Also where no words are known, as nothing is started then.
bool names_checkpoint(const CheckpointLayout& layout, const RunSpec& spec);

/// A word by which a trainer resumes (core/checkpoint_layout.h), filled in.
std::string with_place(std::string_view word, std::string_view path, std::string_view root, int64_t step);

/// The command with `words` in place of {resume}: a word that is nothing else becomes as many words as there are, none
/// too; inside a word (of `bash -c`) they stand quoted for a shell.
std::vector<std::string> with_resume(const std::vector<std::string>& command, const std::vector<std::string>& words);

/// The newest checkpoint that is whole and older than `suspect` (the first that was saved from poisoned data; kNoStep:
/// none was), in the words of the run spec or of the trainer's dialect. Without any checkpoint: no words. kUnsupported
/// when the trainer's words are not known; kNotFound when they need a checkpoint's folder or step and neither the disk
/// nor the run's files show it; kIo when the disk does not answer.
///
/// Whole is what the trainer's pointer names, what is older than that, and what the run said that it had saved (where
/// it only says that it begins to: what it went on from); where there is neither, the highest step. Of `own`, where it
/// is given, none that is foreign, unless the run was resumed from it before.
Result<Resume> plan_resume(Disk& disk, const State& state, const CheckpointLayout& layout, const RunSpec& spec,
                           int64_t suspect, const Ownership* own = nullptr);

/// Where the command has {resume} and is to be restarted: puts into the judgement what it resumes from. Where the words
/// are not known there is no restart. kIo when the disk does not answer: ask again.
Result<void> plan_next(Disk& disk, const State& state, const CheckpointLayout& layout, const RunSpec& spec,
                       const Ownership& own, Judgement& judgement);

/// What people should know of the running attempt: that it resumed from another step than the planned one; or, as soon
/// as there is something to resume from, that the words for the next one are not known. "": all is well; nothing: it is
/// too early to say.
std::optional<std::string> resume_trouble(Disk& disk, const State& state, const CheckpointLayout& layout,
                                          const RunSpec& spec, const Resume& planned);

}  // namespace mw
