#include "act/cleanup/training_trees.h"

#include "sense/checkpoints/parts.h"

namespace mw {

std::vector<std::string> TrainingTrees::with(const std::string& root, std::vector<std::string> all) const {
  const bool earlier = is_earlier(root);
  const std::string role = other_role_of(root);
  std::erase_if(all, [&](const std::string& other) {
    if (!earlier) return is_earlier(other);
    return other != root && other != role;
  });
  return all;
}

const std::set<int64_t>& TrainingTrees::shipped(const std::string& root) const {
  const auto earlier = facts_.earlier.find(root);
  return earlier == facts_.earlier.end() ? facts_.shipped : earlier->second;
}

}  // namespace mw
