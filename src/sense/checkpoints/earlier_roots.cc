#include "sense/checkpoints/earlier_roots.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/trainings.h"
#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

/// When the newest file of a checkpoint there was written; unknown where there is none.
Result<Time> written_last(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  const auto steps = checkpoint_steps(disk, root, layout);
  if (!steps.ok()) return is_silent(steps.error()) ? Result<Time>(steps.error()) : Time();
  Time newest;
  for (const int64_t step : *steps) {
    const auto tree = CheckpointTree::read(disk, cat(root, "/", with_step(layout.folder, step)));
    if (!tree.ok() && is_silent(tree.error())) return tree.error();
    if (tree.ok()) newest = std::max(newest, tree->newest());
  }
  return newest;
}

}  // namespace

Result<void> drop_earlier_roots(Disk& disk, const State& state, const CheckpointLayout& layout,
                                std::vector<std::string>& roots) {
  const EarlierTrainings earlier(state);
  if (!earlier.any()) return {};
  std::erase_if(roots, [&earlier](const std::string& root) { return earlier.left(root); });
  const Time began = earlier.began();
  if (!began.known() || roots.size() < 2) return {};
  std::map<std::string, Time> written;
  for (const std::string& root : roots) {
    const auto newest = written_last(disk, root, layout);
    if (!newest.ok()) return newest.error();
    written[root] = *newest;
  }
  const auto since = [&](const std::string& root) {
    const auto known = written.find(root);
    return known != written.end() && known->second > began;
  };
  if (std::none_of(roots.begin(), roots.end(), since)) return {};
  std::erase_if(roots, [&](const std::string& root) {
    return written[root].known() && !since(root) && !since(other_role_of(root));
  });
  return {};
}

}  // namespace mw
