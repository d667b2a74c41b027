// A day in which nothing goes wrong: a trainer that learns with the noise of real ones, watched live for as many hours
// as asked. No incident may be critical, the circuit breaker may not trip, and warnings are counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/books/knowledge_base.h"

namespace mw::sim {

struct CalmVerdict {
  std::vector<std::string> alarms;    ///< critical incidents, and what would have ended the run
  std::vector<std::string> warnings;  ///< incidents of lesser weight that stand in the end
  double hours = 0;                   ///< simulated
  int64_t steps = 0;
};

/// One run of about ten hours.
CalmVerdict run_calm_seed(uint64_t seed, const KnowledgeBase& knowledge);

}  // namespace mw::sim
