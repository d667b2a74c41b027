// Findings (what one detector concluded) and incidents (findings of one chain, with ranked causes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/event.h"
#include "core/knowledge.h"

namespace mw {

/// A moment of the run in every way that is known. Unknown parts keep their defaults.
struct Moment {
  int64_t step = kNoStep;
  Time at;
  Where where;
  uint16_t attempt = 0;
  bool by_clock = false;  ///< the source logs no steps: the step is the one that others were at by the clock
};

struct Evidence {
  // either a quoted line ...
  Where where;
  std::string text;
  // ... or a figure
  std::string signal;
  int64_t step = kNoStep;
  double value = 0;
};

/// What one detector concluded. Detectors are causal: a finding depends only on what came up to `detected`, so that the
/// findings over a prefix of the run are the findings over the whole run with `detected` inside that prefix.
struct Finding {
  std::string kind;      ///< one of the incident kinds
  std::string detector;  ///< the file's name in core/detect
  Severity severity = Severity::kWarning;
  Moment onset;
  Moment detected;
  bool resolved = false;  ///< it went away again by itself
  Moment resolved_at;
  std::string summary;  ///< one sentence with figures
  std::vector<Evidence> evidence;
  /// Cause ids that this finding itself suggests, best first, with a weight 0..1; diagnosis adds and re-ranks.
  struct Suggestion {
    std::string cause;
    double weight = 0.5;
    std::string reason;  ///< goes into "for"
  };
  std::vector<Suggestion> suggests;
};

struct RankedCause {
  std::string id;
  std::string title;  ///< what it is, one sentence; "": none is known
  double score = 0;   ///< 0..1: ranks the causes of one incident; no frequency
  std::vector<std::string> reasons_for;
  std::vector<std::string> reasons_against;
  std::string check;
  std::string fix;
};

/// From this score on a cause is named where there is room for one only.
constexpr double kWorthNaming = 0.3;

/// How much a cause's score says, for people: "likely", "possible", "unlikely".
inline std::string_view likelihood(const RankedCause& cause) {
  return cause.score >= 0.6 ? "likely" : cause.score >= kWorthNaming ? "possible" : "unlikely";
}

/// What it is, without the full stop; its id where no sentence is known.
inline std::string cause_name(const RankedCause& cause) {
  const size_t end = cause.title.find_last_not_of(". ");
  return end == std::string::npos ? cause.id : cause.title.substr(0, end + 1);
}
/// "A CUDA kernel made an illegal memory access (cuda-illegal-memory-access, likely)"; without the sentence where
/// `said` has it.
std::string cause_text(const RankedCause& cause, std::string_view said = {});

struct Incident {
  uint32_t id = 0;  ///< 1-based, by onset
  std::string kind;
  Severity severity = Severity::kWarning;
  Moment onset;
  Moment latest;  ///< onset in the latest attempt to which the same came back; else `onset`
  Moment detected;
  bool open = true;
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<RankedCause> causes;
  std::string reaction;  ///< what midwatch would do, a word of the catalogue's reactions
  std::vector<uint32_t> followed_by;
  Time written;  ///< when it, or its latest change, came into the journal; unknown for one that is only judged
};

}  // namespace mw
