#include "core/detect/support/recurrent_errors.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "core/outermost_frame.h"

namespace mw::detect {
namespace {

// An exception seen and outlived this often, or over this long, is recurrent; the ranks of one crash print theirs at
// once.
constexpr uint64_t kRecurrentTimes = 3;
constexpr uint64_t kFileHabitTimes = 8;  // the same of any exceptions out of one file
constexpr double kRecurrentSeconds = 120;
constexpr uint64_t kFarewellLines = 100;  // what may follow the exception that ends a log

/// The attempt says that it failed.
bool failed(const AttemptState* attempt) { return attempt != nullptr && attempt->ended && !complete(*attempt); }

/// Where an exception comes from: the file alone, or the file with the exception's type.
std::string origin(const Symptom& symptom, bool with_type) {
  const event::TraceSeen& trace = trace_of(symptom)->trace;
  const std::string file = trace.frame.substr(0, trace.frame.rfind(".py:"));
  return with_type ? cat(trace.exception, "@", file) : file;
}

struct RecurrentError {
  struct Times {
    uint64_t count = 0;
    Time first, last;
  };
  uint64_t survived = 0;
  uint64_t most_lines = 0;              ///< of the tracebacks that were survived
  bool from_module = false;             ///< one of these was: the program catches at its outermost level
  std::map<int64_t, Times> by_process;  ///< by pid: the workers of one crash print theirs one after the other
};

using RecurrentErrors = std::map<std::string, RecurrentError>;

uint64_t lines_of(const TraceState& seen) {
  return seen.trace.last_line - std::min(seen.trace.last_line, seen.moment.where.line);
}

/// Its log ends with it.
bool ends_log(const State& state, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  if (number >= state.sources.size() || !state.sources[number].ended) return false;
  return state.sources[number].kind == "text" &&
         static_cast<int64_t>(symptom.last_line + kFarewellLines) >= state.sources[number].lines;
}

/// It went past where the ones before it were caught: its traceback has a frame more than any of theirs, or begins with
/// a module as none of theirs does, and its log ends with it. What catches an exception and logs it shows no frame
/// above its own.
bool went_past_the_catch(const State& state, const Symptom& symptom, const RecurrentError& of_type,
                         const RecurrentError& of_file) {
  constexpr uint64_t kFrameLines = 2;
  if (!ends_log(state, symptom)) return false;
  const TraceState& trace = *trace_of(symptom);
  const bool longer = of_type.most_lines > 0 && lines_of(trace) >= of_type.most_lines + kFrameLines;
  return longer || (!of_file.from_module && is_from_module(state, trace));
}

RecurrentErrors recurrent_errors_of(const State& state, const std::vector<Symptom>& symptoms, bool with_type) {
  RecurrentErrors all;
  for (const Symptom& symptom : symptoms) {
    if (trace_of(symptom) == nullptr) continue;
    RecurrentError& recurrent = all[origin(symptom, with_type)];
    if (symptom.survived) {
      ++recurrent.survived;
      recurrent.most_lines = std::max(recurrent.most_lines, lines_of(*trace_of(symptom)));
      recurrent.from_module = recurrent.from_module || is_from_module(state, *trace_of(symptom));
    }
    RecurrentError::Times& times = recurrent.by_process[trace_of(symptom)->trace.pid];
    if (times.count++ == 0) times.first = symptom.moment.at;
    times.last = symptom.moment.at;
  }
  return all;
}

/// An exception that the run has lived through time and again is caught and logged by the program: its last occurrence
/// ends nothing either, unless the attempt says that it failed.
void outlive_exceptions(const State& state, std::vector<Symptom>& symptoms) {
  const RecurrentErrors by_type = recurrent_errors_of(state, symptoms, true);
  const RecurrentErrors by_file = recurrent_errors_of(state, symptoms, false);
  for (Symptom& symptom : symptoms) {
    if (trace_of(symptom) == nullptr || symptom.survived || symptom.teardown) continue;
    const AttemptState* attempt = attempt_of(state, symptom.moment.attempt);
    if (failed(attempt)) continue;
    const RecurrentError& recurrent = by_type.at(origin(symptom, true));
    const RecurrentError& of_file = by_file.at(origin(symptom, false));
    if (went_past_the_catch(state, symptom, recurrent, of_file)) continue;
    const RecurrentError::Times& times = recurrent.by_process.at(trace_of(symptom)->trace.pid);
    const bool worked = attempt != nullptr && attempt->last_step != kNoStep;  // nothing else shows life between them
    const bool spread = worked && times.first.known() && (times.last - times.first).seconds() > kRecurrentSeconds;
    symptom.survived = recurrent.survived >= kRecurrentTimes || of_file.survived >= kFileHabitTimes ||
                       (times.count > kRecurrentTimes && spread && state.attempts.size() == 1);
  }
}

/// A server answers a request that it cannot serve with an error, logs why, and goes on with the next one. vLLM's and
/// SGLang's handlers of requests: entrypoints/openai/serving_chat.py and its like.
void outlive_requests(const State& state, std::vector<Symptom>& symptoms) {
  for (Symptom& symptom : symptoms) {
    if (symptom.survived || symptom.teardown || trace_of(symptom) == nullptr || ends_log(state, symptom)) continue;
    if (contains(trace_of(symptom)->trace.frame, "/entrypoints/openai/serving_")) symptom.survived = true;
  }
}

/// What the log said and the run lived through time and again did not end it either, where an exception did. Nor did
/// what comes out the same whenever it is tried, unless the attempt says that it failed.
void outlive_words(const State& state, std::vector<Symptom>& symptoms) {
  std::map<const Signature*, uint64_t> survived;
  std::set<uint16_t> raised;  // attempts
  for (const Symptom& symptom : symptoms) {
    if (symptom.survived && trace_of(symptom) == nullptr) ++survived[symptom.signature];
    const bool open = !symptom.survived && !symptom.teardown && trace_of(symptom) != nullptr;
    if (open && is_root(symptom)) raised.insert(symptom.moment.attempt);
  }
  for (Symptom& symptom : symptoms) {
    if (trace_of(symptom) != nullptr || symptom.survived || survived[symptom.signature] < kRecurrentTimes) continue;
    const bool same =
        symptom.signature->transient == "deterministic" && !failed(attempt_of(state, symptom.moment.attempt));
    symptom.survived = same || raised.count(symptom.moment.attempt) != 0;
  }
}

}  // namespace

void outlive_recurrent_errors(const State& state, std::vector<Symptom>& symptoms) {
  outlive_exceptions(state, symptoms);
  outlive_requests(state, symptoms);
  outlive_words(state, symptoms);
}

}  // namespace mw::detect
