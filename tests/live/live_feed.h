// Feeds a log to the program's own live watch line by line, by a clock of its own, and notes what the watch calls
// critical and when the circuit breaker would trip; a replay of the whole files says what was true in the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/event.h"
#include "read/books/knowledge_base.h"

namespace mw::live {

/// One file of a run. `seconds[i]` is when its line i + 1 was written, from the start; where there is none, the times
/// of the records in it count (30 s a step where they have no clock).
struct Fed {
  std::string path, text;
  std::vector<double> seconds = {};
};

struct Seen {
  std::string kind;
  int64_t onset = kNoStep;  ///< step
  int64_t at = kNoStep;     ///< live: the run's step when it was said; of a replay: when it could first be known
  uint64_t line = 0;        ///< of the onset
  uint64_t fed_line = 0;    ///< live: the line that had just been written
  std::string summary, cause;
};

struct Verdict {
  std::vector<Seen> live;    ///< critical incidents, when they were first said
  std::vector<Seen> replay;  ///< critical incidents of the whole files
  std::vector<Seen> trips;   ///< of the circuit breaker, the first of each kind; `cause` is its class
  std::string verdict;       ///< of the replay, on the run as a whole
  std::string trouble;       ///< why it could not be fed; "" when it was
  uint64_t lines = 0;
};

Verdict feed(std::vector<Fed> files, const KnowledgeBase& knowledge);

/// Does the replay hold it, too: the same kind, its onset within 5 steps or 5 %?
bool in_replay(const Verdict& verdict, const Seen& seen);
/// What was said live of an incident of the replay; nullptr when nothing was.
const Seen* live_of(const Verdict& verdict, const Seen& seen);

}  // namespace mw::live
