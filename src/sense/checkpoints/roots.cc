#include "sense/checkpoints/roots.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/overwrites.h"
#include "core/trainings.h"
#include "sense/checkpoints/below_declared.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

std::string absolute(const std::string& path, const std::string& folder) {
  return plain_path(path.starts_with("/") ? path : cat(folder, "/", path));
}

Result<void> add_if_root(Disk& disk, const CheckpointLayout& layout, const std::string& folder,
                         std::vector<std::string>& roots) {
  if (!layout.below.empty() && basename(folder) != layout.below) return {};
  if (folder.empty() || std::find(roots.begin(), roots.end(), folder) != roots.end()) return {};
  const auto steps = checkpoint_steps(disk, folder, layout);
  if (!steps.ok() && is_silent(steps.error())) return steps.error();
  if (steps.ok() && !steps->empty()) roots.push_back(folder);
  return {};
}

/// Where the run's files say that it saves, and where its processes were seen to.
std::vector<std::string> roots_named(const State& state, const CheckpointLayout& layout, const std::string& folder) {
  std::vector<std::string> named;
  const auto add = [&named](std::string root) {
    if (!root.empty() && std::find(named.begin(), named.end(), root) == named.end()) named.push_back(std::move(root));
  };
  const auto add_of = [&](const std::string& path) {
    const std::string root = root_of(path, layout);
    if (!root.empty()) add(absolute(root, folder));
  };
  for (const auto& [moment, saved] : state.checkpoints) add_of(saved.path);
  if (!state.saves_in.empty()) add(plain_path(state.saves_in));
  add(said_folder(state, folder));
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (!is_deleted_by_log(seen)) add_of(seen.path);
  }
  return named;
}

}  // namespace

std::string said_folder(const State& state, const std::string& folder) {
  const auto said = state.config.find("checkpoint_folder");
  if (said == state.config.end() || said->second.empty()) return "";
  return said->second.front() == '/' || !folder.empty() ? absolute(said->second, folder) : "";
}

std::string root_of(const std::string& path, const CheckpointLayout& layout) {
  size_t from = 0;
  while (from < path.size()) {
    const size_t end = std::min(path.find('/', from), path.size());
    if (step_in(layout.folder, std::string_view(path).substr(from, end - from))) {
      return from == 0 ? "." : path.substr(0, from - 1);
    }
    from = end + 1;
  }
  return "";
}

std::string checkpoint_in(const std::string& path, const CheckpointLayout& layout) {
  const std::string root = root_of(path, layout);
  return root.empty() || root == "." ? "" : path.substr(0, path.find('/', root.size() + 1));
}

Result<std::vector<std::string>> checkpoint_roots(Disk& disk, const State& state, const CheckpointLayout& layout,
                                                  const std::vector<std::string>& declared, const std::string& folder,
                                                  const std::vector<std::string>& command) {
  std::vector<std::string> roots;
  if (!layout.known()) return roots;
  for (const std::string& one : declared) {
    const std::string root = plain_path(one);
    MW_TRY(add_if_root(disk, layout, root, roots));
    const auto names = disk.list(root);  // of an actor and a critic there may be one each
    if (!names.ok() && is_silent(names.error())) return names.error();
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (!step_in(layout.folder, name)) MW_TRY(add_if_root(disk, layout, cat(root, "/", name), roots));
    }
  }
  const auto add = [&](const std::string& root) -> Result<void> {
    if (root.empty() || declared.empty()) return add_if_root(disk, layout, root, roots);
    const auto below = below_declared(disk, declared, root);
    return below.ok() ? add_if_root(disk, layout, *below, roots) : Result<void>(below.error());
  };
  for (const std::string& root : roots_named(state, layout, folder)) MW_TRY(add(root));
  for (const std::string& root : std::vector<std::string>(roots)) {
    if (const std::string other = other_role_of(root); !other.empty()) MW_TRY(add(other));
  }
  if (!roots.empty() && declared.empty()) return roots;
  for (const std::string& one : output_folders(command, folder)) MW_TRY(add(one));
  return roots;
}

const std::pair<Moment, event::CheckpointSeen>* last_scan_of(const State& state, const std::string& path) {
  const auto last = std::find_if(state.checkpoint_scans.rbegin(), state.checkpoint_scans.rend(),
                                 [&path](const auto& scan) { return scan.second.path == path; });
  return last == state.checkpoint_scans.rend() ? nullptr : &*last;
}

event::CheckpointSeen with_logged_step(const State& state, const CheckpointLayout& layout, event::CheckpointSeen seen) {
  if (seen.step != kNoStep || !layout.counts_saves) return seen;
  for (auto one = state.checkpoints.rbegin(); one != state.checkpoints.rend(); ++one) {
    const auto& [moment, saved] = *one;
    const std::string named = saved.path.empty() ? "" : checkpoint_in(plain_path(saved.path), layout);
    // It may be named from another folder on.
    if (named.empty() || !cat("/", seen.path).ends_with(cat("/", named))) continue;
    seen.step = saved.step != kNoStep ? saved.step : moment.step;
    return seen;
  }
  return seen;
}

bool is_news(const State& state, const event::CheckpointSeen& seen) {
  const auto* const last = last_scan_of(state, seen.path);
  return last == nullptr || last->second.how != seen.how || last->second.bytes != seen.bytes ||
         last->second.step != seen.step ||  // some trainers write all of theirs to one place
         last->second.lacks != seen.lacks || last->second.doubt != seen.doubt;
}

int64_t last_good_checkpoint(const State& state, const std::vector<event::CheckpointSeen>& seen) {
  if (state.attempts.empty()) return kNoStep;
  std::map<std::string, event::CheckpointSeen> last;                 // by path
  std::set<int64_t> whole;                                           // seen in the last attempt
  const event::CheckpointSeen* const before = to_go_on_from(state);  // no attempt of this run saved it
  const EarlierTrainings earlier(state);
  for (const auto& [moment, scan] : state.checkpoint_scans) {
    last[scan.path] = scan;
    const bool own = (before == nullptr || scan.path != before->path) && !earlier.has(moment.attempt, scan.path);
    const bool now = own && moment.attempt + 1U == state.attempts.size() && scan.step != kNoStep;
    if (now && scan.how == event::CheckpointSeen::How::kWhole) whole.insert(scan.step);
  }
  for (const event::CheckpointSeen& scan : seen) last[scan.path] = scan;
  std::set<int64_t> broken;
  for (const auto& [path, scan] : last) {
    if (is_unfit(scan)) broken.insert(scan.step);
  }
  // Many trainers say only that a save begins: then what was found on the disk says that it came to its end.
  int64_t best = kNoStep;
  for (const int64_t step : whole) best = broken.count(step) == 0 ? std::max(best, step) : best;
  const int64_t highest = state.attempts.back().last_checkpoint;
  if (broken.count(highest) == 0) return std::max(best, highest);
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt + 1U != state.attempts.size() || !saved.complete || broken.count(saved.step) > 0) continue;
    best = std::max(best, saved.step);
  }
  return best;
}

}  // namespace mw
