// Nothing is saved, so that nothing can be resumed.
#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/estimate.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kShortRun = 20;  // steps: a trial that nobody would resume

void check_saved(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const auto saves = saves_checkpoints(facts);
  if (!saves.has_value()) return;
  const double steps = number_of(facts, "steps_limit").value_or(0);
  const Value on = value_of(facts, "checkpoint_on"), every = value_of(facts, "checkpoint_every");
  const std::string key = every.key.empty() ? on.key : every.key;
  if (!*saves) {
    if (steps > 0 && steps <= kShortRun) return;
    const Setting* at = on.setting != nullptr ? on.setting : every.setting;
    const Value& said = on.set ? on : every;
    const std::string how = said.set ? cat(" (", said.key, " = ", said.text, ")") : ", as they are by default";
    const std::string fix = on.set        ? cat("turn ", on.key, " on")
                            : key.empty() ? cat("turn ", on.key, " on")
                                          : cat("set ", key, " to 10, say");
    out.push_back(finding_at(lint, Level::kWarning, at, cat("checkpoints are off", how), fix));
    return;
  }
  const double interval = every.number.value_or(0);
  if (steps <= 0 || interval <= steps || steps <= kShortRun || !every.set) return;
  out.push_back(
      finding_at(lint, Level::kWarning, every.setting,
                 cat(every.key, " = ", every.text, " is more than the run is long (", format_short(steps), " steps)"),
                 cat("lower ", every.key)));
}

}  // namespace

namespace lints {
extern const Lint no_checkpoints;
const Lint no_checkpoints = {"no-checkpoints",
                             Level::kWarning,
                             "The run saves no checkpoint, or none before its end.",
                             "Whatever ends the run ends all of it: a dead engine, a reclaimed machine, a full disk.",
                             "the frameworks' defaults: off in prime-rl, AReaL, verl, OpenRLHF and slime",
                             check_saved};
}  // namespace lints

}  // namespace mw::preflight
