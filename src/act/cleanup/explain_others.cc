#include "act/cleanup/explain_others.h"

#include "base/text.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

void explain_others(Disk& disk, const CleanupScope& scope, const std::string& root, CleanupPlan& plan) {
  const auto steps = checkpoint_steps(disk, root, scope.layout);
  const Ownership::Other* other = scope.own.other_in(plain_path(root));
  for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>()) {
    const auto whose = whose_is(disk, scope.own, root, scope.layout, step);
    const auto ahead = is_ahead(disk, scope.own, root, scope.layout, *steps, step);
    const bool own = whose.ok() && *whose == Whose::kOwn, foreign = whose.ok() && *whose == Whose::kForeign;
    const bool beyond = ahead.ok() && (*ahead || (scope.own.planned != kNoStep && step > scope.own.planned));
    if (own && !beyond) continue;
    plan.left.push_back({std::string(kOldCheckpoints),
                         root,
                         with_step(scope.layout.folder, step),
                         0,
                         foreign
                             ? std::string("it was there before this run, or was written while no attempt of it lived")
                         : beyond           ? std::string("by its log this run has not reached its step")
                         : other != nullptr ? cat("run ", other->name, " saves there, too, and may have written it")
                                            : std::string("nothing proves that this run wrote it"),
                         {}});
  }
}

}  // namespace mw
