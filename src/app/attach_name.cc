#include "app/attach_name.h"

#include <algorithm>

#include "act/supervise/run_files.h"
#include "app/begin_run.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {
namespace {

/// Does the file lie in what is watched? Both may be as somebody typed them, in another folder than this one.
bool lies_in(const std::string& file, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&file](const std::string& path) {
    const std::string whole = absolute_path(path), one = absolute_path(file);
    return one == whole || one.starts_with(whole == "/" ? whole : whole + "/");
  });
}

}  // namespace

Result<void> check_attach_name(Disk& disk, const AttachRequest& request) {
  if (request.run.empty()) return {};
  if (!is_run_name(request.run)) return not_a_run_name(request.run);
  const std::string folder = cat(home_of(request.home), "/runs/", request.run);
  const Error taken{Error::Code::kInvalid, cat("there is a run called ", request.run, " already"),
                    "Give another --name, or none: the name is then made from the paths."};
  if (!run_spec_path(disk, folder).empty()) return taken;
  if (!disk.info(cat(folder, "/journal")).ok()) return {};
  const auto state = read_recorded(disk, folder);
  if (!state.ok()) return state.error();
  const bool same = std::any_of(state->sources.begin(), state->sources.end(),
                                [&request](const SourceState& source) { return lies_in(source.path, request.paths); });
  return same || state->sources.empty() ? Result<void>() : Result<void>(taken);
}

}  // namespace mw
