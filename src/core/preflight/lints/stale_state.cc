// What an earlier run left where this one would resume from.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

std::string step_of(const OldSteps& old) {
  return old.highest < 0 ? cat("the ", old.part, " has none") : cat("the ", old.part, " is at step ", old.highest);
}

/// Parts of one run that reached other steps than each other.
void check_counters(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (facts.old_steps.size() < 2) return;
  const OldSteps& first = facts.old_steps.front();
  for (const OldSteps& other : facts.old_steps) {
    if (other.highest == first.highest) continue;
    const bool ahead = other.highest > first.highest;
    out.push_back(
        finding_at(lint, ahead ? Level::kError : Level::kWarning, nullptr,
                   cat("counters of an earlier run are out of step: ", step_of(first), " (", first.folder, "), ",
                       step_of(other), " (", other.folder, ")"),
                   cat("move what lies above step ", std::max<int64_t>(0, std::min(other.highest, first.highest)),
                       " out of both folders, or begin in another output folder")));
    out.back().on_machine = true;
    return;
  }
}

void check_state(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const size_t before = out.size();
  check_counters(facts, lint, out);
  if (out.size() > before || facts.old_steps.empty()) return;
  const bool resumes = truth_of(facts, "resume").value_or(false);
  const OldSteps& first = facts.old_steps.front();
  if (resumes || first.highest < 0) return;
  Finding finding = finding_at(lint, Level::kWarning, value_of(facts, "output").setting,
                               cat("checkpoints of an earlier run lie in ", first.folder, " (up to step ",
                                   first.highest, "), and this one does not resume"),
                               "resume from them, or begin in another output folder");
  finding.why =
      "The new run deletes them, writes over them, or stops at a folder that is not empty, by framework and version.";
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint stale_state;
const Lint stale_state = {
    "stale-state",
    Level::kError,
    "Checkpoints of an earlier run lie in the output folder, or its parts are out of step.",
    "The sender counts from one step and the receiver from another: one step is trained, then everybody waits.",
    "prime-rl of 2026-01 takes the orchestrator's highest checkpoint for its progress, the data loader the resume step",
    check_state};
}  // namespace lints

}  // namespace mw::preflight
