#include "sense/checkpoints/strange_names.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "core/state.h"
#include "sense/checkpoints/find.h"

namespace mw {
namespace {

constexpr size_t kFolders = 200;                   // that are looked at
constexpr Duration kSoon = Duration::millis(200);  // while a call is out

/// The usual pattern that a name has; "" where none.
std::string_view pattern_of(std::string_view name) {
  constexpr std::array<std::string_view, 15> kPatterns = {
      "checkpoint_{step}", "checkpoint-{step}", "checkpoint{step}", "ckpt_{step}",  "ckpt-{step}",
      "ckpt{step}",        "step_{step}",       "step-{step}",      "step{step}",   "global_step_{step}",
      "global_step{step}", "iter_{step}",       "epoch_{step}",     "epoch-{step}", "iter_{step:07}"};
  for (const std::string_view pattern : kPatterns) {
    if (step_in(pattern, name)) return pattern;
  }
  return "";
}

}  // namespace

std::optional<StrangeNames> find_strange_names(Disk& disk, const std::vector<std::string>& roots,
                                               const CheckpointLayout& layout, Time since) {
  std::map<std::string_view, StrangeNames> found;
  size_t looked_at = 0;
  bool known = false;
  const auto look = [&](const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      known = known || (layout.known() && step_in(layout.folder, name).has_value());
      const std::string_view pattern = pattern_of(name);
      if (known || pattern.empty() || ++looked_at > kFolders) continue;
      const std::string path = cat(folder, "/", name);
      const auto inside = disk.list(path);
      if (!inside.ok() || !is_checkpoint_by_names(*inside)) continue;
      const bool fresh = std::any_of(inside->begin(), inside->end(), [&](const std::string& file) {
        const auto info = disk.info(cat(path, "/", file));
        return info.ok() && info->kind == FileInfo::Kind::kFile && info->changed >= since;
      });
      if (fresh) found.emplace(pattern, StrangeNames{folder, std::string(pattern), name});
    }
  };
  for (const std::string& root : roots) {
    const auto names = disk.list(root);
    if (!names.ok()) continue;
    look(root, *names);
    for (const std::string& name : *names) {
      if (name.starts_with(".") || !pattern_of(name).empty() || ++looked_at > kFolders) continue;
      const auto below = disk.list(cat(root, "/", name));
      if (below.ok()) look(cat(root, "/", name), *below);
    }
  }
  if (known || found.size() != 1) return std::nullopt;
  return found.begin()->second;
}

std::optional<Duration> StrangeNamesTask::turn(const State& state, bool, EventWriter& writer) {
  if (auto found = call_.take(); found && *found) {
    said_ = true;
    const StrangeNames& names = **found;
    const std::string words =
        cat("checkpoints in ", names.folder, " have names such as ", names.example, ", which ",
            state.framework.empty() || state.framework == "custom" ? std::string("no framework is known by")
                                                                   : cat(state.framework, " does not give"),
            ": a restart does not pass over a broken one of them, and none is removed by a rule. Say pattern = \"",
            names.pattern, "\" of [checkpoints] in midwatch.toml");
    say_(words);
    (void)writer.note({"midwatch", clip(words, kTextLimit)}, clock_.now()).ok();
  }
  if (said_ || state.attempts.empty()) return kPeriod;
  if (!call_.started()) {
    call_.start([disk = disk_, roots = roots_, layout = layout_(state.framework), since = since_] {
      return find_strange_names(*disk, roots, layout, since);
    });
    return kSoon;
  }
  return call_.started() ? kSoon : kPeriod;
}

}  // namespace mw
