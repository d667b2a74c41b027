// From which checkpoint a run in trouble is best resumed, as far as its files show.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Many trainers only say that a save begins; where training went on behind its step, it was over.
bool trained_past(const State& state, const Moment& moment, int64_t step);
/// The first attempt whose weights the last one goes on with, as far as is known; there is at least one attempt.
size_t first_of_lineage(const State& state);

/// Did a later attempt resume from before that step, which this attempt saved? Then the run went on without it. An
/// attempt from scratch, or one that does not say where it resumed, leaves nothing behind.
bool left_behind(const State& state, size_t attempt, int64_t step);

struct ResumeAdvice {
  int64_t step = kNoStep;        ///< of the checkpoint; kNoStep: none from before the trouble is known, or its step is
                                 ///< not known, and there is a path
  std::string path;              ///< as the log or the disk names it, may be empty
  bool whole = false;            ///< its files were looked at and are whole; else only the log says that it was saved
  bool done = true;              ///< false: the log only says that the save began
  std::vector<int64_t> suspect;  ///< steps of checkpoints saved since the trouble began, ascending
  int64_t onset = kNoStep;       ///< step at which what is learnt went bad; kNoStep: the run just ended
  int64_t last = kNoStep;        ///< the last step done
  std::string turn;              ///< kind of the incident with which learning turned before `step`; "" when none did
  int64_t turned = kNoStep;      ///< its onset
  int64_t before = kNoStep;      ///< the newest checkpoint from before that onset
  std::string before_path;       ///< its own, where its files were looked at and are whole; else ""
  double work_s = 0;             ///< worked since `step`, by the run's clock; 0: not known
  double cost_per_hour = 0;      ///< 0: not known
  size_t anew = 0;               ///< the attempt that began from nothing, behind all whole ones; 0: none did so
  std::string verified;          ///< how well the newest verified checkpoint is known: core/crash_cost.h
};

/// Where nothing else calls for a resume, and what is learnt got critically worse, from the newest whole one before
/// that. nullopt: there is no trouble that a resume would answer, no step was done, or no word was said of checkpoints.
std::optional<ResumeAdvice> resume_advice(const State& state);

/// What a decision over a run's checkpoints has to mind, also as long as nobody needs a resume.
struct ResumeGrounds {
  int64_t onset = kNoStep;    ///< what was saved from this step on, an open incident spoils; kNoStep: nothing
  std::string kind;           ///< of that incident
  std::set<int64_t> in_time;  ///< saved at that very step, and before it began
  int64_t advised = kNoStep;  ///< the step that resume_advice() names
  int64_t turned = kNoStep;   ///< ResumeAdvice::turned, and its kind
  std::string turn;
  std::set<int64_t> left_behind;  ///< steps last saved by an attempt that a later one went back behind
};
ResumeGrounds resume_grounds(const State& state);

/// "Resume from step 60 (whole on disk); steps 80 and 100 are suspect; 46 of 106 steps are lost, 1h 44m of work (9.93
/// at 5.73 an hour); step 60 was found whole 1h 43m before."
std::string to_sentence(const ResumeAdvice& advice);

}  // namespace mw
