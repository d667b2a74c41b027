// Ports that the run wants and somebody else has.
#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

void check_ports(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || facts.framework == nullptr) return;
  for (const auto& [name, meaning] : facts.framework->meanings) {
    if (!name.starts_with("port_")) continue;
    const Value port = value_of(facts, name);
    for (const TakenPort& taken : facts.host.taken) {
      if (port.number.value_or(0) != taken.port) continue;
      const std::string by = taken.program.empty() ? "somebody listens on it" : cat(taken.program, " listens on it");
      out.push_back(finding_at(
          lint, port.set ? Level::kError : Level::kWarning, port.setting,
          cat("port ", taken.port, " is taken: ", by, " (", port.key,
              port.set ? ")" : " is not set, so it is that port)"),
          cat("end that program if it is left over from an earlier run, or set ", port.key, " to another port")));
    }
  }
}

}  // namespace

namespace lints {
extern const Lint port_taken;
const Lint port_taken = {
    "port-taken",
    Level::kError,
    "Somebody listens on a port that the run wants.",
    "The server ends with 'Address already in use', or the trainer talks to the engine of another run.",
    "the frameworks' default ports; /proc/net/tcp",
    check_ports};
}  // namespace lints

}  // namespace mw::preflight
