#include "act/cleanup/persons_file.h"

#include <algorithm>
#include <array>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/walk_files.h"

namespace mw {
namespace {

constexpr Duration kLater = Duration::seconds(120);     // than the weights: no save takes as long for what is small
constexpr Duration kEarlier = Duration::seconds(3600);  // before the weights: no save takes as long before them
constexpr size_t kFiles = 20'000;
constexpr int kDeep = 8;

struct Apart {
  std::string path;
  Time changed;
};

/// The path as it is in the checkpoint of another step: "eval_10.txt" in step_10 is "eval_20.txt" in step_20.
std::string in_step(std::string_view path, int64_t step, int64_t other) {
  const std::string number = cat(step);
  const auto digit = [path](size_t at) { return at < path.size() && path[at] >= '0' && path[at] <= '9'; };
  std::string out;
  for (size_t i = 0; i < path.size();) {
    const bool whole = path.substr(i).starts_with(number) && !digit(i + number.size()) && (i == 0 || !digit(i - 1));
    out += whole ? cat(other) : std::string(1, path[i]);
    i += whole ? number.size() : 1;
  }
  return out;
}

/// What programs write beside weights, however late.
bool is_of_a_program(std::string_view name) {
  constexpr std::array<std::string_view, 11> kEndings = {"json", "jsonl", "yaml",  "yml", "lock", "tmp",
                                                         "part", "pkl",   "index", "log", "out"};
  constexpr std::array<std::string_view, 8> kNames = {"readme.md", "license", "best",     "latest",
                                                      "done",      "success", "_success", "complete"};
  const std::string lower = to_lower(name);
  return is_one_of(ending_of(lower), kEndings) || is_one_of(lower, kNames) || contains(lower, "tfevents");
}

/// What no program of a run writes, in however many checkpoints it lies.
bool is_of_a_person(std::string_view name) {
  constexpr std::array<std::string_view, 6> kEndings = {"md", "ipynb", "docx", "odt", "org", "rtf"};
  return is_one_of(ending_of(to_lower(name)), kEndings);
}

}  // namespace

std::string persons_file(Disk& disk, const std::string& folder, int64_t step,
                         const std::vector<std::pair<std::string, int64_t>>& others) {
  Time saved;
  std::vector<Apart> all;
  FileWalk walk{kFiles, kDeep};
  walk.passes_over = [](const std::string& path, const FileInfo&) { return basename(path).starts_with("."); };
  walk.file = [&](std::string path, const FileInfo& info) -> Result<void> {
    const std::string name(basename(path));
    const FileRole role = role_of(name);
    const bool weights = role == FileRole::kWeights || role == FileRole::kOptimizer;
    if (weights) saved = std::max(saved, info.changed);
    if (!weights && info.size > 0 && !is_of_a_program(name)) all.push_back({std::move(path), info.changed});
    return {};
  };
  walk.unseen = [](Unseen, const std::string&, const Error&) { return Result<void>(); };
  if (!walk_files(disk, folder, walk).ok() || !saved.known()) return "";
  for (const Apart& one : all) {
    const bool later = one.changed.ns - saved.ns >= kLater.ns;
    const bool moved_in = saved.ns - one.changed.ns >= kEarlier.ns;  // or copied with its times, as trainers do, too
    if ((!later && !moved_in) || others.empty()) continue;
    if (later && is_of_a_person(basename(one.path))) return one.path;
    const auto elsewhere = std::count_if(others.begin(), others.end(), [&](const auto& other) {
      return disk.info(cat(other.first, "/", in_step(one.path, step, other.second))).ok();
    });
    if (2 * static_cast<size_t>(elsewhere) < others.size()) return one.path;  // a trainer writes it into most
  }
  return "";
}

}  // namespace mw
