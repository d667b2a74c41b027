// A group of one rollout has no advantage.
#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

void check_group(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const Value group = value_of(facts, "group_size");
  if (group.number.value_or(0) != 1) return;
  const Value algorithm = value_of(facts, "advantage");
  if (!algorithm.known || !fits("*grpo*", to_lower(algorithm.text))) return;
  const std::string how = group.set ? cat(group.key, " = 1") : cat(group.key, " is not set, and 1 is the default");
  out.push_back(finding_at(lint, facts.framework != nullptr && group.set ? Level::kError : Level::kWarning,
                           group.setting, cat(how, ": with GRPO every advantage is 0"),
                           cat("set ", group.key, " to 8, say")));
}

}  // namespace

namespace lints {
extern const Lint group_of_one;
const Lint group_of_one = {
    "group-of-one",
    Level::kError,
    "GRPO with one rollout for each prompt.",
    "The advantage is the reward less the mean of its group. In a group of one that is 0, so nothing is learned, or "
    "the batches "
    "are filtered until the run gives up.",
    "Shao et al. 2024, DeepSeekMath, section 4.1; TRL: 'GRPO requires at least 2 generations per prompt'",
    check_group};
}  // namespace lints

}  // namespace mw::preflight
