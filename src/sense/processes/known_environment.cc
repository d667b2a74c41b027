#include "sense/processes/known_environment.h"

#include "base/text.h"

namespace mw {

void learn_environment_of(System& system, int64_t pid, KnownSecrets& known) {
  constexpr size_t kEnvironBytes = 1U << 20;
  if (pid <= 0) return;
  const auto text = system.read(cat("/proc/", pid, "/environ"), kEnvironBytes);
  if (!text.ok()) return;
  for (const std::string_view both : split(*text, '\0')) {
    const size_t equals = both.find('=');
    if (equals != std::string_view::npos) known.learn(both.substr(0, equals), both.substr(equals + 1));
  }
}

}  // namespace mw
