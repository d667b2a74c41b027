#include "app/await_paths.h"

#include <algorithm>

#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

bool missing(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return !info.ok() && info.error().code == Error::Code::kNotFound;
}

}  // namespace

Result<void> await_paths(const Doors& doors, const AttachRequest& request) {
  const Duration limit = Duration::seconds(request.exit_after_idle_s);
  const Duration poll = Duration::seconds(std::clamp(request.poll_s, 0.05, 5.0));
  const Duration began = doors.clock.steady();
  for (const std::string& path : request.paths) {
    if (!missing(doors.disk, path)) continue;
    const std::string above(folder_of(absolute_path(path)));
    if (missing(doors.disk, above))
      return Error{Error::Code::kNotFound, cat(path, " is not there, nor is the folder ", above), "Check the path."};
    if (request.say) request.say(cat("nothing is at ", path, " yet; waiting for it"));
    doors.watch.add(above);
    while (missing(doors.disk, path)) {
      if (limit.ns > 0 && doors.clock.steady().ns - began.ns >= limit.ns)
        return Error{Error::Code::kNotFound, cat("nothing appeared at ", path, " within ", format_duration(limit)), ""};
      if (doors.watch.wait(poll) == Watch::Woke::kStop)
        return Error{Error::Code::kInterrupted, cat("the wait for ", path, " was ended"), ""};
    }
  }
  return {};
}

}  // namespace mw
