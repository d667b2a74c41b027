// Of the trees in which a run keeps its checkpoints, those of one training (core/trainings.h): what keeps a step in one
// of them keeps it in the others, and what was saved and shipped of another training counts for none of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/retention.h"

namespace mw {

class TrainingTrees {
 public:
  /// `facts` outlives it.
  explicit TrainingTrees(const RetentionFacts& facts) : facts_(facts) {}
  /// An earlier training of the command left it.
  bool is_earlier(const std::string& root) const { return facts_.earlier.count(root) != 0; }
  /// Those of `all` that are of the training of `root`, that one, too.
  std::vector<std::string> with(const std::string& root, std::vector<std::string> all) const;
  /// The steps of that training which the store has.
  const std::set<int64_t>& shipped(const std::string& root) const;

 private:
  const RetentionFacts& facts_;
};

}  // namespace mw
