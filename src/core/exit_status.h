// What an exit status of 0 is worth. A shell gives the status of a pipeline's last part ("python train.py | tee log"),
// and a wrapper its own: the trainer may have died all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

/// Only an exit status of 0 shows that the attempt ended: the run's files do not say so.
bool ended_by_status(const AttemptState& attempt);

/// Does the end that the attempt has stand against what its files say at `word`? A status other than 0 comes after all
/// that its program says, in whatever order the files are read.
bool status_stands(const AttemptState& attempt, const Event& word);

/// Did the run do all its epochs, as its settings and its records show? The next record would lie beyond their end.
bool epochs_done(const State& state);

/// Where an attempt stands in its plan.
struct OpenPlan {
  int64_t step = kNoStep, total = 0;
};
/// Set when the attempt trained and its plan, which is known for sure, was far from done: by its steps, counted from
/// where it resumed, too; by another counter that has the same goal; and by its epochs.
std::optional<OpenPlan> open_plan(const State& state, size_t attempt);

/// Did the attempt say, after its last step, that it is done, or stops early by a rule of its own? Known by benign
/// signatures that would be mistaken for a silent death.
bool said_done(const State& state, const Knowledge& knowledge, size_t attempt);

/// Does the line say that the training is over, and not an epoch, a step or a stage of it?
bool says_training_over(std::string_view line);

/// The files are at their end without an exit record, no plan is open, and the last attempt said after its last step
/// that its training is over: not an epoch, a step or a stage of it.
bool finished_by_its_word(const State& state, const Knowledge& knowledge);

/// The attempt ended with status 0, short of its plan, and did not say that it was done.
std::optional<OpenPlan> fell_short(const State& state, const Knowledge& knowledge, size_t attempt);

/// Was the attempt to end when it did: by `midwatch stop`, or by a signal to midwatch?
bool stop_was_requested(const State& state, size_t attempt);

/// Did midwatch's circuit breaker end it?
bool broken_off(const State& state, size_t attempt);

/// How an attempt that ended with status 0 short of its plan says itself, after its last step, that it was meant to.
struct WordOfEnd {
  std::string text;           ///< the line; "": it has no such word
  bool from_outside = false;  ///< a person, a scheduler or a signal stopped it; else a rule of its own did
};
WordOfEnd word_of_end(const State& state, const Knowledge& knowledge, size_t attempt);

/// Do the run's files of the last attempt contradict the status 0 of its command? Its plan was open
/// (fell_short()), an error ended its log, or its own launcher said that it failed and no step was done after that.
bool belies_status(const State& state, const Knowledge& knowledge);

/// How the last attempt ended when all that is known is that its process is gone: complete where its steps were done or
/// it said so, else failed. `who` ended, in words; `log_says`: the run's own files say how, which counts more.
struct UnseenEnd {
  event::Ended ended;
  bool log_says = false;
};
UnseenEnd unseen_end(const State& state, const Knowledge& knowledge, const std::string& who);
/// Is it such an end?
bool is_unseen(const event::Ended& ended);

/// Was the last attempt interrupted, or did it die of a signal or without a status, after its own word that its
/// training was complete? Then all that it was for had been done.
bool ended_after_its_word(const State& state, const Knowledge& knowledge);
/// Is the end of the attempt's log that of a program which is done and puts its result away?
bool said_farewell(const State& state, const AttemptState& attempt);

/// In midwatch's own note on an attempt whose command ended and left the training behind: "attempt 1 goes on in ...".
inline constexpr std::string_view kGoesOn = " goes on in what its command left behind: ";
/// Has any attempt gone on so?
bool leaves_training_behind(const State& state);
/// Does attempt `number` (from 0) go on so? Not once it was decided what follows it.
bool goes_on_behind(const State& state, size_t number);

}  // namespace mw
