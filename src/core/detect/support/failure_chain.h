// Chains: which signs of trouble (signature matches and tracebacks) belong to one failure, and which of them leads.
// The detectors that speak of failures in the run's text share this reading of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw::detect {

/// What an exception type says by itself, where no signature knows the text.
struct ExceptionClass {
  std::string_view kind;   ///< incident kind
  std::string_view cause;  ///< cause id
  bool consequence;        ///< usually the echo of a failure elsewhere (broken pipe, dead actor, failed child)
};

/// One sign of trouble. Exactly one of `signature` and `trace` is set; the pointers live as long as the Knowledge and
/// the State that they were made from.
struct Symptom {
  const Signature* signature = nullptr;
  const TraceState* trace = nullptr;
  ExceptionClass type{};  ///< of the trace's exception
  Moment moment;
  uint64_t order = 0;      ///< number of the event in the run
  uint64_t last_line = 0;  ///< of the traceback; else the line itself
  uint64_t count = 1;      ///< how often the signature was seen in the whole run
  std::string text;
  bool survived = false;               ///< the attempt made progress, or lived long, after it
  bool idle = false;                   ///< no step was done after it, in an attempt that had done some
  const TraceState* within = nullptr;  ///< a signature's: the traceback it stands in, which nothing is known to catch
  bool teardown = false;               ///< it came after the run's own word that it was complete
  bool named = false;                  ///< it is of the rank that the launcher names as the one that failed
  bool consequence = false;            ///< Slurm's ending a step of which something had failed before
};

/// The traceback that it is, or stands in; null: none.
inline const TraceState* trace_of(const Symptom& symptom) {
  return symptom.trace != nullptr ? symptom.trace : symptom.within;
}

/// null: there is no such attempt.
const AttemptState* attempt_of(const State& state, uint16_t attempt);

/// It ended, by its own word or with exit status 0.
bool complete(const AttemptState& attempt);

/// `exception` may be qualified ("torch.OutOfMemoryError") or wrapped ("RayTaskError(KeyError)").
ExceptionClass classify_exception(std::string_view exception, std::string_view message, std::string_view frame);

/// The type alone says no more than that something is wrong, and so does the message.
bool says_little(const ExceptionClass& is);

/// The exception's own name: the last component, and the inner one of a wrapper.
std::string_view bare_exception(std::string_view exception);

/// All symptoms of the run in the order in which it met them, without samples, benign matches and handled links of a
/// chain of exceptions that a later one explains.
std::vector<Symptom> symptoms_of(const State& state, const Knowledge& knowledge);

/// The failure that ended one attempt.
struct FailureChain {
  uint16_t attempt = 0;
  Symptom lead;
  std::vector<Symptom> others;  ///< in order; before or after the lead
  std::string kind;
  bool replaced = false;  ///< a start, which failed; one that came after it in the same log got further
  bool ended = false;  ///< the lead ends the process that says it; else it is only the last grave thing that was said
};

/// The symptoms that nothing survived, led by the earliest root: one chain per attempt, more where an attempt without
/// steps holds several starts far apart.
std::vector<FailureChain> fatal_chains(const State& state, const std::vector<Symptom>& symptoms);

/// The first and last step of an attempt that were really done: by its metric records when the run has any, else as
/// announced.
struct Done {
  int64_t first = kNoStep, last = kNoStep;
};
Done done_in(const State& state, size_t attempt);
int64_t last_done(const State& state, size_t attempt);

/// The last line of the source that an attempt was last heard in, at the last step that was done.
Moment at_the_end(const State& state, const AttemptState& attempt, int64_t done);

/// A line behind the name of the Ray process that said it, "(TaskRunner pid=7, ip=10.0.0.2) ".
std::string_view without_label(std::string_view line);

/// An error that is the last line of an attempt's text.
struct FinalError {
  std::string exception;  ///< its class; "" when only the line's level calls it fatal
  std::string message;
};
/// Known only when the sources have ended; nothing when the attempt's end was stated.
std::optional<FinalError> final_error(const State& state, const AttemptState& attempt);

/// Another attempt was begun after this one had not done a single step.
bool came_to_nothing(const State& state, size_t attempt);

/// The incident kind that a symptom stands for.
std::string kind_of(const Symptom& symptom);
/// The cause id that a symptom stands for.
std::string cause_of(const Symptom& symptom);
/// Does the symptom stand for a failure itself, rather than for the echo of one?
bool is_root(const Symptom& symptom);

/// Fills kind, onset, evidence and suggestions of `finding` from a chain. What ended the last attempt began at the step
/// that the bar over its plan shows, where the records are of fewer.
void describe(const State& state, const FailureChain& chain, Finding& finding);

}  // namespace mw::detect
