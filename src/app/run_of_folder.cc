#include "app/run_of_folder.h"

#include <algorithm>

#include "act/fleet/shell_word.h"
#include "act/supervise/run_files.h"
#include "app/find_run.h"
#include "app/verify.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr size_t kListed = 4;  // runs that an error names
constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";  // need no quotes in a shell

/// As a person types it.
std::string typed(std::string_view word) {
  return word.find_first_not_of(kPlain) == std::string_view::npos ? std::string(word) : fleet::shell_word(word);
}

Error not_declared(const std::string& path, const std::string& works_there) {
  const std::string list = cat("To see what lies there: midwatch checkpoint list ", typed(path), ".");
  if (!works_there.empty()) {
    return {
        Error::Code::kInvalid,
        cat("run ", works_there, " works in ", path, " or above it, and declared no folder of checkpoints"),
        cat("Checkpoints are removed below declared folders only: start its next attempt with --checkpoints DIR, or "
            "set checkpoints of [run] in midwatch.toml. ",
            list)};
  }
  return {Error::Code::kInvalid, cat("no recorded run declared ", path, " to hold its checkpoints"),
          cat("Removed is only what a run of 'midwatch run --checkpoints ", typed(path),
              " -- COMMAND' was seen to write there; the rest is yours to remove. ", list)};
}

Error several(const std::string& path, const std::vector<std::string>& runs) {
  std::string listed;
  for (size_t i = 0; i < runs.size() && i < kListed; ++i) listed += cat(i == 0 ? "" : ", ", basename(runs[i]));
  if (runs.size() > kListed) listed += cat(" and ", runs.size() - kListed, " more");
  return {Error::Code::kInvalid, cat(runs.size(), " runs keep checkpoints in ", path, ": ", listed),
          cat("Name the one whose checkpoints are meant: midwatch checkpoint prune ", typed(basename(runs.back())))};
}

}  // namespace

bool is_within(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

Result<std::string> run_of_checkpoints(Disk& disk, const std::vector<std::string>& run_folders,
                                       const std::string& path) {
  const auto info = disk.info(path);
  if (!info.ok() || info->kind != FileInfo::Kind::kFolder)
    return Error{Error::Code::kNotFound, cat(path, " is neither a recorded run nor a folder"),
                 "midwatch runs lists the runs."};
  const std::string wanted = real_path(path);
  const bool of_all = folder_of(wanted) == "/" || wanted == "/";  // what lies below it may be anybody's
  std::vector<std::string> found;
  std::string works_there;
  for (const std::string& folder : run_folders) {
    const auto spec = load_run_spec(disk, folder);
    if (!spec.ok()) continue;
    const bool declared = std::any_of(spec->checkpoints.begin(), spec->checkpoints.end(), [&](const std::string& root) {
      const std::string real = real_path(root);
      return is_within(wanted, real) || (!of_all && is_within(real, wanted));
    });
    if (declared) found.push_back(folder);
    if (spec->checkpoints.empty() && is_within(wanted, real_path(spec->folder))) works_there = basename(folder);
  }
  if (found.size() > 1) return several(wanted, found);
  return found.empty() ? Result<std::string>(not_declared(wanted, works_there)) : found.front();
}

Result<CleanupRequest> with_run_of_folder(Disk& disk, CleanupRequest request) {
  if (!request.retention || request.run.empty() || is_run_folder(disk, request.run)) return request;
  const std::vector<std::string> runs = recorded_runs(disk, request.home);
  const bool is_name = std::any_of(runs.begin(), runs.end(),
                                   [&request](const std::string& folder) { return basename(folder) == request.run; });
  const std::string path = absolute_path(request.run);
  if (is_name || (!contains(request.run, "/") && !disk.info(path).ok())) return request;
  auto run = run_of_checkpoints(disk, runs, path);
  if (!run.ok()) return run.error();
  request.run = std::move(*run);
  request.below = path;
  return request;
}

}  // namespace mw
