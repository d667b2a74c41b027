// What the name of a held-out figure says of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

enum class EvaluationSense : uint8_t {
  kHigher,    ///< a result of which more is better: accuracy, reward, pass@k
  kLower,     ///< of which less is better: loss, perplexity, error rate
  kNoResult,  ///< a length, a time, a count, why answers ended, a percentile: neither way is better
  kUnsaid,    ///< the name alone does not say it: perhaps a benchmark's own
};

/// By words in the trainer's own name ("eval/aime/avg@8"), without regard to case.
EvaluationSense evaluation_sense(std::string_view name);

}  // namespace mw
