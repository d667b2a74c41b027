#include "read/older_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "core/attempts.h"
#include "core/mixed_runs.h"
#include "read/shown_files.h"

namespace mw {
namespace {

constexpr Duration kQuietAhead = Duration::seconds(5);  // where it is behind: views of one run are written together
constexpr int64_t kSameBegin = 2;                       // steps
constexpr size_t kSharedLeast = 20;                     // figures, of records in other folders
constexpr std::array<std::string_view, 4> kAsideWords = {"eval", "test", "val", "validation"};

using Files = std::map<std::string, FoundFile>;

/// How many figures both have at the same steps, and how many of them are the same. Whole numbers are equal by chance.
std::pair<size_t, size_t> common_figures(const ShownFile& a, const ShownFile& b) {
  size_t shared = 0, same = 0;
  for (const auto& [name, values] : a.figures) {
    for (const auto& [other_name, others] : b.figures) {
      if (name.first != other_name.first || !is_own(name.first)) continue;
      for (const auto& [step, value] : values) {
        const auto found = others.find(step);
        if (found == others.end() || (value == std::round(value) && found->second == std::round(found->second)))
          continue;
        ++shared;
        same += figures_differ(value, found->second) ? 0 : 1;
      }
    }
  }
  return {shared, same};
}

/// Numbers alone may be those of ranks, which share the norm of their gradients and have rewards of their own.
bool may_be_ranks(const ShownFile& a, const ShownFile& b) {
  if (folder_of(a.path) != folder_of(b.path) || names_of(FileName(a.path), FileName(b.path)) != Names::kMaybe)
    return false;
  const Likeness likeness = compare(a, b, Named::kSame);
  return likeness.differ.size() < 2 || likeness.differ.count("grad_norm") == 0;
}

/// What a tracker kept of another run, or a trainer in a checkpoint: other figures at the same steps, and by the
/// clocks, where both have them, from before. One of the same run may lie behind the log by its writer's buffer.
bool older_record(const ShownFile& one, const ShownFile& newest) {
  if (newest.attempts > 1) return false;
  const bool clocks = one.since.known() && newest.since.known();
  if (clocks ? !apart_in_time(one, newest) : names_part(one.path, newest.path)) return false;
  const auto [shared, same] = common_figures(one, newest);
  const bool others = shared >= kSharedLeast && same * 3 < shared;
  return others || are_records_of_two_runs(one, newest);
}

bool is_older(const ShownFile& one, const ShownFile& newest, const Files& files) {
  const Duration quiet = files.at(newest.path).info.changed - files.at(one.path).info.changed;
  if (quiet < kQuietAhead || std::abs(one.first - newest.first) > kSameBegin) return false;
  if (are_sinks_of_two_runs(one, newest)) return quiet >= kQuiet;
  if (!one.one_by_one || folder_of(one.path) != folder_of(newest.path)) {
    if (older_record(one, newest) && quiet >= kQuiet) return true;
    if (!one.one_by_one) return false;
  }
  if (!may_be_two_runs(one.path, newest.path) || may_be_ranks(one, newest)) return false;
  const auto [shared, same] = common_figures(one, newest);
  if (shared > 0 && same * 3 >= shared) return false;
  const bool ahead = one.last - newest.last > kStepRewind;
  return shared > 0 ? ahead || quiet >= kQuiet : ahead && quiet >= kQuiet;
}

/// Of the log that was written last; one of evaluations is written beside it.
const ShownFile* newest_of(const std::vector<ShownFile>& shown, const Files& files) {
  const ShownFile* newest = nullptr;
  for (const ShownFile& one : shown) {
    const FileName name(one.path);
    const bool aside = std::any_of(kAsideWords.begin(), kAsideWords.end(),
                                   [&](std::string_view word) { return name.words.count(std::string(word)) > 0; });
    if (!one.one_by_one || aside || files.count(one.path) == 0) continue;
    if (newest == nullptr || files.at(newest->path).info.changed < files.at(one.path).info.changed) newest = &one;
  }
  return newest;
}

/// The highest folder above `log` in which nothing of the live run lies, with a slash behind it; "" where there is
/// none.
std::string own_folder(const std::string& log, const std::vector<std::string>& live) {
  for (size_t slash = log.find('/', 1); slash != std::string::npos; slash = log.find('/', slash + 1)) {
    std::string folder = log.substr(0, slash + 1);
    if (std::none_of(live.begin(), live.end(), [&](const std::string& path) { return path.starts_with(folder); }))
      return folder;
  }
  return "";
}

/// Does a file without steps belong to one of these older logs? By its folder, else by its name, else by its time.
bool goes_with(const FoundFile& file, const std::vector<std::string>& older, const std::vector<std::string>& live,
               const Files& files) {
  for (const std::string& log : older) {
    const std::string folder = own_folder(log, live);
    if (!folder.empty() && file.path.starts_with(folder)) return true;
  }
  if (const auto group = group_by_name(file.path, {live, older})) return *group == 1;
  return std::any_of(older.begin(), older.end(), [&](const std::string& log) {
    const int64_t between = file.info.changed.ns - files.at(log).info.changed.ns;
    return folder_of(log) == folder_of(file.path) && std::abs(between) < kQuiet.ns;
  });
}

}  // namespace

std::vector<std::string> older_runs(const State& state, const std::vector<FoundFile>& files) {
  Files by_path;
  for (const FoundFile& file : files) {
    if (!file.named) by_path.emplace(file.path, file);
  }
  const std::vector<ShownFile> shown = shown_by_files(state);
  const ShownFile* const newest = newest_of(shown, by_path);
  if (newest == nullptr) return {};
  std::vector<std::string> older, live;
  for (const ShownFile& one : shown) {
    const bool apart = by_path.count(one.path) > 0 && is_older(one, *newest, by_path);
    (apart ? older : live).push_back(one.path);
  }
  if (older.empty()) return {};
  std::vector<std::string> out = older;
  const Time last = by_path.at(newest->path).info.changed;
  for (const auto& one : by_path) {
    const FoundFile& file = one.second;
    const bool has_steps =
        std::any_of(shown.begin(), shown.end(), [&](const auto& of) { return of.path == file.path; });
    if (!has_steps && last - file.info.changed >= kQuiet && goes_with(file, older, live, by_path))
      out.push_back(file.path);
  }
  return out;
}

}  // namespace mw
