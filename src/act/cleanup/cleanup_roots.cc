#include "act/cleanup/cleanup_roots.h"

#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/below_declared.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

/// Of a trainer with roles each keeps its own below the folder that a person gives them. Who declares the folder of one
/// role declares that of the other, too, which is never made where that one is not trained.
Result<void> add_roles(Disk& disk, CleanupScope& scope) {
  for (const std::string& root : std::vector<std::string>(scope.roots)) {
    for (const std::string& role : role_folders(root)) {
      const bool known = std::find(scope.roots.begin(), scope.roots.end(), role) != scope.roots.end();
      if (known || !scope.own.may_save_in(role)) continue;
      const auto steps = checkpoint_steps(disk, role, scope.layout);
      if (!steps.ok() && is_silent(steps.error())) return steps.error();
      if (steps.ok() && !steps->empty()) scope.roots.push_back(role);
    }
  }
  std::erase_if(scope.roots, [&disk](const std::string& root) {
    if (other_role_of(root).empty()) return false;
    const auto info = disk.info(root);
    return !info.ok() && info.error().code == Error::Code::kNotFound;
  });
  return {};
}

}  // namespace

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
  MW_TRY(add_roles(disk, scope));
  const auto below = own_roots_below(disk, scope.own, scope.layout);
  if (!below.ok()) return below.error();
  for (const std::string& root : *below) add(root);
  return {};
}

}  // namespace mw
