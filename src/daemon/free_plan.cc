#include "daemon/free_plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "checkpoints/look.h"
#include "checkpoints/set_aside.h"
#include "daemon/charge.h"
#include "daemon/config_units.h"
#include "keeper/record.h"
#include "sources/host/core_file.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kLookedAt = 128;   // checkpoints of one folder, the newest
constexpr size_t kCores = 64;       // of one folder
constexpr int kAttempts = 100'000;  // whose records are read
constexpr std::string_view kCoreDumps = "core-dumps", kBroken = "broken-checkpoints", kAside = "set-aside",
                           kOld = "old-checkpoints";

/// Sessions of all attempts' commands: each begins one, and its number is its pid.
std::set<int64_t> sessions_of(Disk& disk, const std::string& run_folder) {
  std::set<int64_t> sessions;
  for (int number = 1; number < kAttempts; ++number) {
    const std::string folder = cat(run_folder, "/", kAttemptsFolder, "/", number);
    if (!disk.info(folder).ok()) break;
    const auto kept = read_kept(disk, folder);
    if (kept.ok() && kept->child.pid > 1) sessions.insert(kept->child.pid);
  }
  return sessions;
}

class Planner {
 public:
  Planner(Disk& disk, const FreeScope& scope, const FreeSettings& settings)
      : disk_(disk), scope_(scope), settings_(settings) {}

  std::vector<FreeItem> plan() {
    for (const std::string& word : settings_.what) {
      if (word == kCoreDumps) {
        core_dumps();
      } else {
        for (const std::string& root : scope_.roots) {
          if (scope_.layout.known() && check_root(root).ok()) checkpoints(root, word);
        }
      }
    }
    return std::move(items_);
  }

 private:
  void core_dumps() {
    const std::set<int64_t> sessions = sessions_of(disk_, scope_.run_folder);
    std::set<std::string> folders(scope_.roots.begin(), scope_.roots.end());
    folders.insert(scope_.folder);
    for (const std::string& folder : folders) {
      const auto names = disk_.list(folder);
      if (!names.ok() || !check_root(folder).ok()) continue;
      size_t seen = 0;
      for (const std::string& name : *names) {
        if (!name.starts_with("core") && !contains(name, "core.")) continue;
        const auto info = disk_.info(cat(folder, "/", name));
        if (!info.ok() || info->kind != FileInfo::Kind::kFile || ++seen > kCores) continue;
        auto file = disk_.open_read(cat(folder, "/", name));
        std::string head;
        if (!file.ok() || !(*file)->read_at(0, host::kCoreHead, head).ok()) continue;
        const auto core = host::parse_core_head(head);
        if (!core || sessions.count(core->session) == 0) continue;
        items_.push_back({std::string(kCoreDumps), folder, name, info->size,
                          cat("the core dump of ", core->program, ", process ", core->pid, " of this run")});
      }
    }
  }

  /// The checkpoints of one folder as the disk shows them, by step.
  const std::map<int64_t, event::CheckpointSeen>& looks(const std::string& root) {
    const auto known = looks_.find(root);
    if (known != looks_.end()) return known->second;
    auto& found = looks_[root];
    auto steps = checkpoint_steps(disk_, root, scope_.layout);
    if (!steps.ok()) return found;
    const size_t skip = steps->size() > kLookedAt ? steps->size() - kLookedAt : 0;
    std::optional<CheckpointLook> before;
    for (size_t i = skip; i < steps->size(); ++i) {
      const std::string folder = cat(root, "/", with_step(scope_.layout.folder, (*steps)[i]));
      CheckpointLook look = look_at_checkpoint(disk_, folder, (*steps)[i], before ? &*before : nullptr);
      found[(*steps)[i]] = look.seen;
      if (look.seen.how == How::kWhole) before = std::move(look);
    }
    return found;
  }

  void checkpoints(const std::string& root, const std::string& word) {
    const auto& all = looks(root);
    std::vector<int64_t> whole;  // the newest first
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
      if (one->second.how == How::kWhole) whole.push_back(one->first);
    }
    if (whole.empty()) return;
    const auto pointer = read_pointer(disk_, root, scope_.layout);
    const auto pointed = pointer ? step_in(scope_.layout.pointer_text, *pointer) : std::nullopt;
    const auto put = [&](int64_t step, std::string why) {
      if (step == whole.front() || step == pointed) return;
      const auto one = all.find(step);
      items_.push_back({word, root, with_step(scope_.layout.folder, step), one->second.bytes, std::move(why)});
    };
    if (word == kBroken) {
      for (const auto& [step, seen] : all) {
        if (seen.how == How::kBroken && step < whole.front()) {
          put(step, cat("the checkpoint of step ", step, " is broken: ", seen.what));
        }
      }
    } else if (word == kAside) {
      set_aside_things(root);
    } else if (word == kOld && settings_.keep_last > 0) {
      for (size_t i = whole.size(); i-- > static_cast<size_t>(settings_.keep_last);) {
        if (settings_.keep_every > 0 && whole[i] % settings_.keep_every == 0) continue;
        put(whole[i], cat("the checkpoint of step ", whole[i], " is older than the last ", settings_.keep_last));
      }
    }
  }

  void set_aside_things(const std::string& root) {
    const std::string aside = cat(root, "/", kAsideFolder);
    const auto labels = disk_.list(aside);
    for (const std::string& label : labels.ok() ? *labels : std::vector<std::string>()) {
      const CheckpointLook look = look_at_checkpoint(disk_, cat(aside, "/", label), kNoStep, nullptr);
      items_.push_back({std::string(kAside), root, cat(kAsideFolder, "/", label), look.seen.bytes,
                        cat("set aside before the attempt after ", label)});
    }
  }

  Disk& disk_;
  const FreeScope& scope_;
  const FreeSettings& settings_;
  std::map<std::string, std::map<int64_t, event::CheckpointSeen>> looks_;  // by folder
  std::vector<FreeItem> items_;
};

}  // namespace

FreeSettings free_settings(const Config& config) {
  FreeSettings settings;
  const std::string mode = config.text("free-space.mode");
  settings.mode = mode == "act"     ? FreeSettings::Mode::kAct
                  : mode == "watch" ? FreeSettings::Mode::kWatch
                                    : FreeSettings::Mode::kAsk;
  settings.what = config.texts("free-space.what");
  settings.keep_last = config.number("retention.keep_last");
  settings.keep_every = config.number("retention.keep_every");
  return settings;
}

std::vector<FreeItem> plan_free(Disk& disk, const FreeScope& scope, const FreeSettings& settings) {
  return Planner(disk, scope, settings).plan();
}

}  // namespace mw
