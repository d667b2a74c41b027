#include "core/supervise/action_kind.h"

#include <algorithm>
#include <iterator>

#include "core/collected.h"
#include "core/shipments.h"

namespace mw {
namespace {

using enum Executor;
using enum InDoubt;

constexpr ActionKind kKinds[] = {
    {"restart", kSupervisor, kByRecord, ""},
    {"stop", kSupervisor, kByRecord, ""},
    {"break", kSupervisor, kByRecord, ""},
    {"pause", kSupervisor, kByRecord, ""},
    {"resume", kSupervisor, kByRecord, ""},
    {"quarantine", kSupervisor, kByRecord, ""},
    {"set-aside", kSupervisor, kByRecord, ""},  // as midwatch 0.1 called it
    {"restart-component", kComponent, kGoesOn, ""},
    {"restart-with-run", kComponent, kGoesOn, ""},
    {"cleanup", kCleanup, kByDisk, ""},
    {"free-space", kCleanup, kByDisk, ""},  // likewise
    {"notify", kNotifier, kRepeat, ""},
    {"hook", kNotifier, kGiveUp, "In doubt: midwatch was ended while it ran. It is not run again."},
    {kCollectEvidence, kEvidence, kGiveUp, "midwatch was ended meanwhile"},
    {kShip, kShipper, kRepeat, ""},
    {kShipBack, kShipper, kRepeat, ""},
    {"restore", kPerson, kGiveUp, "In doubt: midwatch restore was ended meanwhile. Run it again."},
};

}  // namespace

std::span<const ActionKind> action_kinds() { return kKinds; }

const ActionKind* action_kind(std::string_view word) {
  const auto found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [word](const ActionKind& one) { return one.word == word; });
  return found == std::end(kKinds) ? nullptr : &*found;
}

std::vector<ActionState> in_doubt(const State& state, Executor executor) {
  std::vector<ActionState> found;
  for (const ActionState& action : state.actions) {
    const ActionKind* kind = action_kind(action.intent.action);
    if (!action.done && (kind == nullptr ? kSupervisor : kind->executor) == executor) found.push_back(action);
  }
  return found;
}

}  // namespace mw
