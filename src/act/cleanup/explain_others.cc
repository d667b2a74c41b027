#include "act/cleanup/explain_others.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "platform/paths.h"
#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

/// "": they do not, or another run saves there.
std::string why_named_ones_stay(Disk& disk, const CleanupScope& scope, const std::string& root, int64_t keep_last) {
  if (scope.own.other_in(plain_path(root)) != nullptr) return "";
  const auto steps = checkpoint_steps(disk, root, scope.layout);
  int64_t named = 0;
  bool while_none_lived = true;
  for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>()) {
    if (scope.own.logged.count(step) == 0) continue;
    const auto whose = whose_is(disk, scope.own, root, scope.layout, step);
    if (!whose.ok() || *whose != Whose::kUnknown) continue;
    ++named;
    const auto tree = CheckpointTree::read(disk, cat(root, "/", with_step(scope.layout.folder, step)));
    while_none_lived = while_none_lived && tree.ok() &&
                       std::none_of(scope.own.lives.begin(), scope.own.lives.end(), [&tree](const auto& life) {
                         return life.began <= tree->newest() && (!life.ended.known() || tree->newest() <= life.ended);
                       });
  }
  if (named <= std::max<int64_t>(1, keep_last)) return "";
  return cat("nothing proves that this run wrote them, though its log names them",
             while_none_lived
                 ? ", as by the times of their files it did not run then (is their file server's clock off?)"
                 : "");
}

}  // namespace

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

void note_what_no_rule_removes(Disk& disk, const CleanupScope& scope, int64_t keep_last, CleanupPlan& plan) {
  for (const std::string& root : scope.roots) {
    const bool said = std::any_of(scope.roots.begin(), scope.roots.end(), [&root](const std::string& above) {
      return above != root && lies_in(root, above) && !check_root(above).ok();
    });
    if (said) continue;
    const auto checked = check_root(root);
    const std::string why = checked.ok() ? why_named_ones_stay(disk, scope, root, keep_last) : checked.error().what;
    if (why.empty()) continue;
    std::string text = cat("No rule removes ", checked.ok() ? "some" : "any", " of the checkpoints in ", root, ": ",
                           why, ". Remove old ones by hand");
    const bool known = std::find(plan.notes.begin(), plan.notes.end(), text) != plan.notes.end();
    if (!known) plan.notes.push_back(std::move(text));
  }
}

}  // namespace mw
