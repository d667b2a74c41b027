// What follows the end of an attempt, and why the circuit breaker ended it: in C++, and as the journal has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "core/supervise/policy.h"
#include "core/supervise/supervision.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

/// For what the breaker ends an attempt, as it stood then: afterwards the incident may look different.
struct Trip {
  std::string kind, cause, reaction, summary;  ///< of the incident
  int64_t step = kNoStep;                      ///< its onset; the last step that was seen by then
  Where where;                                 ///< of the onset
};
event::Tripped tripped_event(int64_t attempt, const Trip& trip);
Trip trip_of(const event::Tripped& tripped);

/// Which checkpoints are quarantined before the next attempt.
struct Rollback {
  std::vector<std::string> roots;     ///< folders; empty: none are
  int64_t from = kNoStep;             ///< this step's and all later ones
  std::string why;                    ///< one sentence
  std::vector<QuarantinePlan> plans;  ///< exactly what, of each folder where there is something to do
};

/// What the next attempt resumes from, where the command leaves that to midwatch; act/supervise/resume.h.
struct Resume {
  int64_t step = kNoStep;          ///< kNoStep: from the beginning, or from whatever the trainer finds
  std::string path;                ///< of that checkpoint; "": not known
  std::vector<std::string> words;  ///< in place of {resume}
};

/// How an attempt ended and what was decided then; the intent of a restart, durable before it is done.
struct Judgement {
  AttemptOutcome outcome;
  RestartDecision decision;
  std::string framework;  ///< whose layout the checkpoints have
  Rollback back;
  Resume resume;
  bool from_scratch = false;  ///< the next attempt may begin from nothing (core/overwrites.h)
  bool asks = false;          ///< the restart waits for a person's approval
  std::string facts;  ///< core/supervise/outcome_json.h: what core/supervise/policy.h was asked, and what it said
};
event::Decided decided_event(int64_t attempt, const Judgement& judgement);
/// Of an attempt that is `decided`. Where its plan cannot be read there is no restart, and `why` says so.
Judgement judgement_of(const SupervisedAttempt& attempt);

/// Members "quarantine", "resume" and "framework" of `json`, put into `into`. False: it has rollback roots but no plan
/// of what moves.
bool read_plan(const Json& json, Judgement& into);

}  // namespace mw
