// Whether an engine gets the weights that the trainer makes: it is asked the same question again and again, and its
// answer moves with every update, in the last bits at least.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sense/processes/probe.h"

namespace mw::components {

/// Two samples of one token are the same answer when the token and its log-probability are the same to the last bit.
class SameAnswer {
 public:
  struct Figures {
    double same = 0;     ///< steps done since it answered something else
    double changes = 0;  ///< how often its answer changed with the steps of this attempt, counted to kChanges
    bool operator==(const Figures&) const = default;
  };
  static constexpr double kChanges = 3;

  /// What is new; nothing when nothing is, or when the answer says nothing of the weights: no token came with its
  /// log-probability, no step is known, or the engine was busy (with whom a request shares a batch moves the last bits,
  /// too). `attempt`: 1 for the first.
  std::optional<Figures> take(const Answer& answer, uint64_t attempt, int64_t step);

 private:
  uint64_t attempt_ = 0;
  std::string token_;
  double score_ = 0;
  int64_t since_ = 0;  ///< step at which this answer was first given
  std::optional<Figures> reported_;
};

}  // namespace mw::components
