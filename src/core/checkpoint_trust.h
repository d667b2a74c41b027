// Which checkpoints of a run may be gone back to, by what a live watch found on the disk: whole, and not found unsound
// since by reading all of their bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/state.h"

namespace mw {

/// A scan shows that nothing can be resumed from it: it is broken, or lacks what the one before has.
inline bool is_unfit(const event::CheckpointSeen& seen) {
  return seen.how == event::CheckpointSeen::How::kBroken || !seen.lacks.empty();
}

/// Something is wrong with it, as far as is known of how its framework saves, and nothing proves that this run saves
/// otherwise: nothing is done to it, and nobody is sent back to it.
inline bool is_doubted(const event::CheckpointSeen& seen) {
  return seen.how == event::CheckpointSeen::How::kUnknown && !seen.doubt.empty();
}

/// `CheckpointSeen::sign` of one that was saved and does not lie there any more (kUnknown): its trainer deleted it, or
/// a person.
inline constexpr std::string_view kGoneSign = "gone";
inline bool is_gone(const event::CheckpointSeen& seen) {
  return seen.how == event::CheckpointSeen::How::kUnknown && seen.sign == kGoneSign;
}

/// Likewise, but the run's own log says it, at the line of which it comes: its trainer deleted it, or saved over it.
/// `path` is the last part of its name then, or "".
inline bool is_deleted_by_log(const event::CheckpointSeen& seen) {
  return is_gone(seen) && (seen.path.empty() || seen.path.front() != '/');
}
/// What such a line says of a step, of which the log also says that it was saved, at `saved` and to `path`: that one
/// lies there no more. False where the step was saved again since, or the line names another folder of that step.
bool deletes(const Moment& moment, const event::CheckpointSeen& seen, const Moment& saved, std::string_view path);

/// What the last reading of all its bytes found wrong with the checkpoint at `path`; nullptr: nothing, it was not read,
/// or it was saved anew since.
const event::CheckpointRead* unsound(const State& state, const std::string& path);

/// By path, what the last readings found wrong, also of what may have been saved anew since: `tree_state` tells.
std::map<std::string, event::CheckpointRead> unsound_reads(const State& state);

/// Steps of which any part was found unsound.
std::set<int64_t> unsound_steps(const State& state);
/// Steps of which all bytes of a part were read and found sane, and of no part unsound.
std::set<int64_t> sane_steps(const State& state);

/// All checkpoints that were found on the disk, as they were found last, where each of them is doubted (or broken) and
/// none is whole.
struct DoubtedCheckpoints {
  size_t count = 0;
  event::CheckpointSeen newest;  ///< of those that are doubted
};
/// nullopt where one is whole, or nothing speaks against it, or none was found, or each is broken.
std::optional<DoubtedCheckpoints> only_doubted(const State& state);
/// "none of the 3 checkpoints on the disk is proved whole (step 20: there are no weights in it)"; "" otherwise.
std::string doubted_text(const State& state);

/// Did an attempt before number `end` (counted from 0) leave a checkpoint that can be gone back to, of a step up to
/// `most` (kNoStep: of any)? Whole is what the trainer said that it had saved and what was found so on the disk, which
/// is all that shows it of trainers that only say that a save begins. Not what all scans of that step show to be
/// broken. `gone`, where it is given: leaves out what attempt number `attempt` saved; `step` may be kNoStep, `path` "".
using SaveIsGone = std::function<bool(size_t attempt, int64_t step, const std::string& path)>;
bool left_whole(const State& state, size_t end, int64_t most = kNoStep, const SaveIsGone& gone = nullptr);

struct SoundCheckpoint {
  int64_t step = kNoStep;
  std::string path;
  Time verified;       ///< when it was last found whole, by its structure or by all of its bytes
  bool read = false;   ///< all of its bytes were read
  size_t attempt = 0;  ///< in which that was found, counted from 0
};
/// The newest with a step below `before` (kNoStep: of all) of which all that was found by then (unknown: by now) is
/// whole and nothing unsound.
std::optional<SoundCheckpoint> newest_sound(const State& state, int64_t before = kNoStep, Time by = {});
/// The furthest step that may have been trained where the log names steps up to `highest`: some trainers log one step
/// in many, save before they log, or are killed before they wrote out what they logged. `gap`: the widest between two
/// steps that it names; 0: not known, and then as many again as `span`, which it is known to have trained.
int64_t furthest_unlogged(int64_t highest, int64_t span, int64_t gap);
/// Likewise for all attempts of a run, and not beyond what they planned. kNoStep where its files name no steps, or only
/// records that name none.
int64_t furthest_saved(const State& state);
/// Its records name no steps and are counted: of every fifth step there may be one.
bool has_nameless_records(const State& state);
/// The furthest step that any of its attempts planned, or was seen to reach; kNoStep where one of them has no plan.
int64_t furthest_planned(const State& state);
/// The furthest step that its records, the bar over its plan or a resume name. kNoStep where nothing names one, or only
/// records that name none, which are fewer than the steps.
int64_t furthest_named(const State& state);
/// Of two whose names are alike but for the number at their end: has `one` the higher one? The longer is the higher.
bool is_named_later(std::string_view one, std::string_view other);
/// Of those whose step nobody says, as their names count saves: the one with the highest number that was found whole,
/// before `before` (unknown: at all), and is so still; of several folders the one that was found last.
std::optional<SoundCheckpoint> newest_without_step(const State& state, Time before = {});

}  // namespace mw
