#include "act/cleanup/cleanup_roots.h"

#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/below_declared.h"

namespace mw {

Result<void> add_roots_below(Disk& disk, CleanupScope& scope) {
  const auto add = [&scope](const std::string& root) {
    if (std::find(scope.roots.begin(), scope.roots.end(), root) == scope.roots.end()) scope.roots.push_back(root);
  };
  // Some trainers put all of their checkpoints into a folder of one name below the one that a person gives them.
  for (const std::string& root : std::vector<std::string>(scope.roots)) {
    const std::string inner = cat(root, "/", scope.layout.below);
    const bool other = !scope.layout.below.empty() && basename(root) != scope.layout.below;
    if (other && disk.info(inner).ok()) add(inner);
  }
  const auto below = own_roots_below(disk, scope.own, scope.layout);
  if (!below.ok()) return below.error();
  for (const std::string& root : *below) add(root);
  return {};
}

}  // namespace mw
