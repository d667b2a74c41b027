// Format rules by step: the state counts them over the whole run, a person asks whether they become better. And what a
// cycle is compared with: format rules and tool calls over the whole run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/state.h"

namespace mw {

class FormatBatches {
 public:
  static constexpr size_t kRuleLimit = 200;   ///< rules kept
  static constexpr size_t kToolLimit = 4096;  ///< tools kept
  static constexpr size_t kBatchLimit = 64;   ///< batches kept of each: the last ones
  struct Batch {
    uint16_t attempt = 0;
    int64_t step = kNoStep;
    uint64_t passed = 0, failed = 0;
  };
  /// Of every event of the run, in order, with the state that it was folded into.
  void hear(const State& state, const Event& event);
  /// The batches of one rule, in order; empty when nothing was judged by it.
  const std::vector<Batch>& of(const std::string& rule) const;
  /// Of one rule over the whole run, also where the state counts those of a cycle; its step is kNoStep.
  Batch total(const std::string& rule) const;
  /// Calls of a tool, likewise.
  uint64_t calls(const std::string& function) const;
  /// The last steps of the last attempt in which anything was judged, ascending, at most `most`.
  std::vector<int64_t> last_steps(size_t most) const;

 private:
  std::map<std::string, std::vector<Batch>> rules_;
  std::map<std::string, Batch> totals_;
  std::map<std::string, uint64_t> calls_;
  std::vector<Batch> none_;
};

/// "88 % (70/80)"; where the run never says what passed, the failures alone; "" when the step has none.
std::string batch_text(const std::vector<FormatBatches::Batch>& batches, int64_t step, bool counted);

}  // namespace mw
