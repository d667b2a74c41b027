#include "act/supervise/fingerprint_scope.h"

#include "act/keeper/launch.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {

FingerprintScope fingerprints_of(Disk& disk, const Supervisor& supervisor,
                                 std::function<Result<void>(const std::string&, std::string_view)> write_file,
                                 std::function<void(const std::string&)> say) {
  const auto folder = [&supervisor](int attempt) {
    // In the run's own folder: what onstart found in the store.
    return attempt > 0 ? supervisor.attempt_folder(attempt) : folder_of(folder_of(supervisor.attempt_folder(1)));
  };
  const auto collectors = [&disk, &supervisor, begun = supervisor.attempt()](int attempt) {
    const RunSpec& spec = supervisor.spec();
    Subject subject{spec.command, spec.folder, 0, spec.environment, spec.checkpoints};
    const std::string place = supervisor.attempt_folder(attempt);
    if (const auto text = read_small(disk, cat(place, "/", kLaunchFile)); text.ok()) {
      if (auto launch = parse_launch(*text); launch.ok()) subject.command = std::move(launch->command);
    }
    if (attempt == begun) {
      const auto kept = read_kept(disk, place);
      subject.pid = kept.ok() && kept->child.known() ? kept->child.pid : 0;
    }
    return collectors_of(subject);
  };
  return {[&supervisor] { return supervisor.attempt(); }, folder, collectors, std::move(write_file), std::move(say)};
}

}  // namespace mw
