#include "app/await_paths.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "read/discover.h"
#include "read/files/sniff.h"

namespace mw {
namespace {

constexpr Duration kWalk = Duration::seconds(0.2);  // between two walks of a folder, at least

bool missing(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return !info.ok() && info.error().code == Error::Code::kNotFound;
}

/// "outputs/" lies in ".".
std::string folder_above(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return folder_of(absolute_path(std::string(path)));
}

/// Why there is nothing to read in the folders that were given, though more may come; nullopt where there is something,
/// and where what is given is no folder.
std::optional<Error> lacks_files(Disk& disk, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto info = disk.info(path);
    if (!info.ok() || info->kind != FileInfo::Kind::kFolder) return std::nullopt;
  }
  const auto found = discover(disk, paths, worth_reading);
  if (found.ok() || found.error().code != Error::Code::kUnsupported) return std::nullopt;
  return found.error();
}

/// The wait for one thing, within the limit for all.
class Wait {
 public:
  Wait(const Doors& doors, const AttachRequest& request)
      : doors_(doors), limit_(Duration::seconds(request.exit_after_idle_s)), began_(doors.clock.steady()) {}

  bool over() const { return limit_.ns > 0 && doors_.clock.steady().ns - began_.ns >= limit_.ns; }
  Duration limit() const { return limit_; }
  Result<void> pause(Duration poll, const std::string& path) {
    if (doors_.watch.wait(poll) != Watch::Woke::kStop) return {};
    return Error{Error::Code::kInterrupted, cat("the wait for ", path, " was ended"), ""};
  }

 private:
  const Doors& doors_;
  Duration limit_, began_;
};

}  // namespace

Result<void> await_paths(const Doors& doors, const AttachRequest& request) {
  const Duration poll = Duration::seconds(std::clamp(request.poll_s, 0.05, 5.0));
  Wait wait(doors, request);
  for (const std::string& path : request.paths) {
    if (!missing(doors.disk, path)) continue;
    const std::string above = folder_above(path);
    if (missing(doors.disk, above))
      return Error{Error::Code::kNotFound, cat(path, " is not there, nor is the folder ", above), "Check the path."};
    if (request.say) request.say(cat("nothing is at ", path, " yet; waiting for it"));
    doors.watch.add(above);
    while (missing(doors.disk, path)) {
      if (wait.over())
        return Error{Error::Code::kNotFound,
                     cat("nothing appeared at ", path, " within ", format_duration(wait.limit())), ""};
      MW_TRY(wait.pause(poll, path));
    }
  }
  bool said = false;
  for (auto lacks = lacks_files(doors.disk, request.paths); lacks; lacks = lacks_files(doors.disk, request.paths)) {
    if (wait.over()) return *lacks;
    if (!std::exchange(said, true) && request.say) request.say(cat("there is ", lacks->what, " yet; waiting for one"));
    for (const std::string& path : request.paths) doors.watch.add(path);
    MW_TRY(wait.pause(std::max(poll, kWalk), request.paths.front()));
  }
  return {};
}

}  // namespace mw
