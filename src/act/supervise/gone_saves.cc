#include "act/supervise/gone_saves.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

constexpr size_t kNamed = 256;

/// Where a save may lie that the log names: by its own path, or by that of the folder of them all; without one in each
/// of `roots`.
std::vector<std::string> places_of(const event::CheckpointSaved& saved, const CheckpointLayout& layout,
                                   const std::vector<std::string>& roots, const std::string& folder) {
  std::vector<std::string> places;
  if (!layout.known() || layout.counts_saves) return places;
  const std::string name = with_step(layout.folder, saved.step);
  if (saved.path.empty()) {
    for (const std::string& root : roots) places.push_back(cat(root, "/", name));
    return places;
  }
  const std::string path = plain_path(saved.path.starts_with("/") ? saved.path : cat(folder, "/", saved.path));
  const std::string root = root_of(path, layout);
  return {cat(root.empty() ? path : root, "/", name)};
}

/// Of each step, where the saves of it lay, as far as they are not known to be broken or gone.
std::map<int64_t, std::set<std::string>> places_by_step(const State& state, const CheckpointLayout& layout,
                                                        const std::vector<std::string>& roots,
                                                        const std::string& folder) {
  std::map<int64_t, std::set<std::string>> places;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (saved.step == kNoStep) continue;
    for (std::string& place : places_of(saved, layout, roots, folder)) places[saved.step].insert(std::move(place));
  }
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.step == kNoStep || is_deleted_by_log(seen)) continue;
    if (is_gone(seen) || is_unfit(seen)) {
      places[seen.step].erase(seen.path);
    } else {
      places[seen.step].insert(seen.path);
    }
  }
  return places;
}

bool is_deleted(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return !info.ok() && info.error().code == Error::Code::kNotFound && disk.list(folder_of(path)).ok();
}

}  // namespace

std::vector<event::CheckpointSeen> gone_saves(Disk& disk, const State& state, const CheckpointLayout& layout,
                                              const std::vector<std::string>& roots, const std::string& folder) {
  std::vector<event::CheckpointSeen> gone;
  const auto places = places_by_step(state, layout, roots, folder);
  const ResumeGrounds grounds = resume_grounds(state);
  const auto is_suspect = [&grounds](int64_t step) {
    return grounds.onset != kNoStep && step >= grounds.onset && grounds.in_time.count(step) == 0;
  };
  for (auto one = places.rbegin(); one != places.rend(); ++one) {
    for (const std::string& path : one->second) {
      if (!is_suspect(one->first) && disk.info(path).ok()) return gone;
    }
    for (const std::string& path : one->second) {
      if (gone.size() >= kNamed) return gone;
      if (!is_deleted(disk, path)) continue;
      event::CheckpointSeen seen;
      seen.step = one->first;
      seen.path = path;
      seen.what = "it is gone";
      seen.sign = kGoneSign;
      gone.push_back(std::move(seen));
    }
  }
  return gone;
}

}  // namespace mw
