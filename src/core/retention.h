// Which checkpoints of a run may be deleted: a pure decision over what is known of each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"

namespace mw {

/// What a person wants kept. With nothing in it everything is kept.
struct RetentionRules {
  int64_t keep_last = 0;   ///< the newest whole ones, counted over this machine and the store; 0: all are kept
  int64_t keep_every = 0;  ///< those whose step it divides; 0: none
  std::string keep_best;   ///< a signal, or one after "min:" or "max:": the checkpoint at whose step it was best is
                           ///< kept; "": none
  std::string known = {};  ///< RetentionFacts::known, for a message
  std::string doubt = {};  ///< RetentionFacts::doubt, likewise
  bool any() const { return keep_last > 0; }
};

/// What `keep_best` says: "min:NAME", "max:NAME", or only a name, of which the name decides which way is better.
struct BestRule {
  enum class Way { kByName, kLowest, kHighest };
  std::string signal;
  Way way = Way::kByName;
};
BestRule best_rule(std::string_view keep_best);

/// Steps of which a store has a checkpoint with all its files.
struct StoreSteps {
  std::set<int64_t> usable = {};    ///< nothing speaks against going on from it
  std::set<int64_t> given_up = {};  ///< the store's pointer was moved to an earlier step since

  bool has(int64_t step) const { return usable.count(step) != 0 || given_up.count(step) != 0; }
};

/// What a run's journal says that a decision over its checkpoints needs.
struct RetentionFacts {
  bool has_store = false;     ///< the run ships its checkpoints
  std::set<int64_t> shipped;  ///< steps that the store has, verified
  /// Folders that earlier trainings of the command left (core/trainings.h), and which steps of each the store has. All
  /// else here is of the training that goes on.
  std::map<std::string, std::set<int64_t>> earlier = {};
  std::set<int64_t> sending;         ///< steps that are on their way there
  std::map<int64_t, double> scores;  ///< values of a signal by the step of each, NaN as well; higher is better
  std::string known = {};  ///< where there are none: what the run has values of that may have been meant, "a, b, …"
  std::string doubt =
      {};  ///< where there are none although the run has values: why, after "no value of SIGNAL can be used: "
  int64_t onset = kNoStep;         ///< what was saved from this step on, an open incident spoils; kNoStep: nothing
  std::set<int64_t> in_time = {};  ///< saved at that very step, and before it began
  std::string trouble = {};        ///< "zero-reward began at step 55"
  int64_t advised = kNoStep;       ///< the step that resume_advice() names
  int64_t turned = kNoStep;        ///< ResumeAdvice::turned: a person may want the newest from before it
  std::string turn = {};           ///< "entropy-collapse began at step 55"
  std::set<int64_t> left = {};     ///< saved by an attempt that a later one went back behind
  std::map<int64_t, std::string> unsound = {};  ///< what reading all bytes of a step's found wrong
  std::set<int64_t> sane = {};                  ///< steps of which all bytes were read, and nothing is wrong

  /// Why no run should go on from what was saved at `step`, one clause; "": nothing speaks against it.
  std::string spoiled(int64_t step) const;
  /// Likewise, where the only reason that counts is what reading all its bytes found.
  std::string found_unsound(int64_t step) const;
  /// Has the store anything, of whichever training?
  bool any_shipped() const;
  struct Lost {
    size_t forgotten = 0;  ///< count as shipped no more
    size_t gone = 0;       ///< of those, which the store has not any more
  };
  /// Forgets what was shipped and is not in the store any more, or cannot be gone on from there: its pointer may have
  /// gone on to a later training, whose steps are lower.
  Lost lose_shipped(const StoreSteps& there);

  /// The last value up to `step`; none where that is not finite.
  std::optional<double> score_at(int64_t step) const;
};

/// One checkpoint of the run: on this machine, in the store, or both.
struct RetainedCheckpoint {
  int64_t step = kNoStep;
  bool local = true;         ///< it lies on this machine
  bool whole = false;        ///< proven by its files
  bool paired = true;        ///< what belongs to it in other folders (its optimizer, its weights) is whole, too
  bool own = false;          ///< seen to be written by this run
  bool in_use = false;       ///< somebody writes or reads it, or the trainer's pointer names it
  std::string use = {};      ///< which of these, one clause; "": not known
  bool shipped = false;      ///< the store has it, verified
  std::string spoiled = {};  ///< why no run should go on from it, one clause; "": nothing speaks against it
  std::string advised = {};  ///< why it stays whatever the rules say, likewise; "": they decide
  bool read = false;         ///< all its bytes were read, and nothing is wrong with them
  std::optional<double> score = std::nullopt;  ///< the value of `keep_best` at its step, higher is better
};

struct RetentionVerdict {
  int64_t step = kNoStep;
  bool goes = false;
  std::string why;        ///< one sentence without a full stop
  bool advised = false;   ///< it stays as RetainedCheckpoint::advised says
  bool no_value = false;  ///< it stays only because no value of `keep_best` is known or can be used
};

/// What is learnt got worse, and nobody knows yet how it goes on: a person may want to go back to the newest from
/// before that, by RetentionFacts::turned.
void keep_before_turn(const RetentionFacts& facts, std::vector<RetainedCheckpoint>& all);

/// One verdict for each local checkpoint, by ascending step. `has_store`: the run ships its checkpoints. Whatever the
/// rules say there stay: the newest whole one of this machine, the last `keep_last` whole ones, what is in use, what is
/// not proven to be this run's or to be whole, and with a store all that is newer than the newest shipped one. One that
/// is not `paired` is none of those that are counted: nobody can resume from it. Nor should anybody from one that is
/// `spoiled`: beside those, the last `keep_last` and the best of the others stay, and the newest that was `read`.
std::vector<RetentionVerdict> decide_retention(std::vector<RetainedCheckpoint> all, const RetentionRules& rules,
                                               bool has_store);

}  // namespace mw
