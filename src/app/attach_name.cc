#include "app/attach_name.h"

#include <algorithm>

#include "act/supervise/run_files.h"
#include "app/begin_run.h"
#include "app/run_of_folder.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {

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
  // Both may be as somebody typed them, in another folder than this one.
  const bool same = std::any_of(state->sources.begin(), state->sources.end(), [&request](const SourceState& source) {
    return std::any_of(request.paths.begin(), request.paths.end(), [&source](const std::string& path) {
      return is_within(absolute_path(source.path), absolute_path(path));
    });
  });
  return same || state->sources.empty() ? Result<void>() : Result<void>(taken);
}

}  // namespace mw
