#include "core/incident_kind.h"

#include <algorithm>
#include <iterator>

#include "core/knowledge.h"

namespace mw {
namespace {

using enum IncidentKind::Family;
using enum IncidentKind::Flag;

constexpr IncidentKind kKinds[] = {
    {"crash", kProcess, kEndsRun, "stop-and-notify", "restart-from-scratch crash"},
    {"interrupted", kProcess, 0, "ignore", ""},
    {"preempted", kProcess, 0, "restart-run-from-checkpoint", ""},
    {"died-silently", kProcess, 0, "restart-run-from-checkpoint", ""},
    {"stall", kProcess, kTrips, "restart-run-from-checkpoint", "interrupted preempted"},
    {"engine-dead", kProcess, kEndsRun | kTaints | kTrips, "restart-component",
     "zero-reward reward-collapse zero-advantage stall policy-mismatch died-silently entropy-collapse length-collapse"},
    {"worker-lost", kProcess, kEndsRun | kTrips, "restart-run-from-checkpoint",
     "collective-timeout stall zero-reward reward-collapse"},
    {"collective-timeout", kProcess, kEndsRun, "restart-run-from-checkpoint", "disk-full"},
    {"gpu-out-of-memory", kMachine, kEndsRun | kResource, "config-fix", "worker-lost engine-dead reward-collapse"},
    {"host-out-of-memory", kMachine, kEndsRun | kResource, "stop-and-notify", "worker-lost"},
    {"gpu-fault", kMachine, kEndsRun | kResource, "stop-and-notify", "collective-timeout worker-lost"},
    {"shm-exhausted", kMachine, kEndsRun | kResource, "config-fix",
     "checkpoint-failed disk-full disk-pressure checkpoint-incomplete worker-lost"},
    {"disk-full", kMachine, kEndsRun | kResource, "free-space-then-resume",
     "checkpoint-failed checkpoint-incomplete crash restart-from-scratch"},
    {"disk-pressure", kMachine, 0, "free-space-then-resume", "disk-full checkpoint-failed checkpoint-incomplete"},
    {"resource-limit", kMachine, kEndsRun | kResource, "stop-and-notify", "engine-dead worker-lost environment-fault"},
    {"network", kSetup, kEndsRun, "retry", "crash environment-fault stall zero-reward reward-collapse zero-advantage"},
    {"credentials", kSetup, kEndsRun, "stop-and-notify", "environment-fault zero-reward"},
    {"dependency-broken", kSetup, kEndsRun, "stop-and-notify", ""},
    {"config-error", kSetup, kEndsRun, "config-fix", "crash"},
    {"data-error", kSetup, kEndsRun, "stop-and-notify", ""},
    {"code-error", kSetup, kEndsRun, "stop-and-notify", "crash zero-reward"},
    {"environment-fault", kSetup, kEndsRun, "stop-and-notify", "zero-reward reward-collapse zero-advantage"},
    {"checkpoint-failed", kRecord, kEndsRun, "stop-and-notify", "checkpoint-incomplete restart-from-scratch"},
    {"checkpoint-incomplete", kRecord, kEndsRun, "stop-and-notify", "restart-from-scratch"},
    {"checkpoint-suspect", kRecord, 0, "stop-and-notify", ""},
    {"checkpoint-frozen", kRecord, 0, "stop-and-notify", "no-learning"},
    {"checkpoint-pointer", kRecord, 0, "stop-and-notify", "restart-from-scratch"},
    {"checkpoint-overdue", kRecord, 0, "stop-and-notify", ""},
    {"restart-from-scratch", kRecord, 0, "stop-and-notify", ""},
    {"logging-gap", kRecord, 0, "ignore", ""},
    {"interleaved-runs", kRecord, 0, "stop-and-notify", "no-learning reward-collapse checkpoint-overdue instability"},
    {"non-finite", kLearning, kTaints | kTrips, "rollback-before-onset",
     "reward-collapse zero-reward zero-advantage no-learning length-collapse degenerate-output"},
    {"reward-collapse", kLearning, 0, "stop-and-notify", "zero-reward zero-advantage"},
    {"zero-reward", kLearning, kTaints | kTrips, "stop-and-notify",
     "zero-advantage no-learning reward-collapse entropy-collapse length-collapse"},
    {"no-learning", kLearning, 0, "stop-and-notify", ""},
    {"zero-advantage", kLearning, 0, "stop-and-notify", "no-learning"},
    {"entropy-collapse", kLearning, 0, "stop-and-notify", "degenerate-output zero-advantage"},
    {"entropy-explosion", kLearning, 0, "stop-and-notify", "reward-collapse degenerate-output truncation"},
    {"kl-runaway", kLearning, 0, "stop-and-notify", "reward-collapse entropy-explosion"},
    {"gradient-spike", kLearning, 0, "ignore", "non-finite kl-runaway"},
    {"loss-spike", kLearning, 0, "ignore", ""},
    {"clip-saturation", kLearning, 0, "stop-and-notify", ""},
    {"length-explosion", kLearning, 0, "stop-and-notify", "truncation"},
    {"length-collapse", kLearning, 0, "stop-and-notify", "reward-collapse zero-reward"},
    {"truncation", kLearning, 0, "stop-and-notify", "reward-collapse throughput-drop zero-advantage"},
    {"degenerate-output", kLearning, 0, "stop-and-notify", "reward-collapse zero-reward"},
    {"policy-mismatch", kLearning, 0, "stop-and-notify", "reward-collapse entropy-explosion"},
    {"staleness", kLearning, 0, "stop-and-notify", "policy-mismatch"},
    {"reward-hacking", kLearning, 0, "stop-and-notify", ""},
    {"eval-regression", kLearning, 0, "stop-and-notify", ""},
    {"format-failures", kLearning, 0, "stop-and-notify", "zero-reward reward-collapse"},
    {"tool-errors", kLearning, 0, "stop-and-notify", "zero-reward reward-collapse"},
    {"repeated-data", kLearning, 0, "stop-and-notify", ""},
    {"throughput-drop", kLearning, 0, "ignore", ""},
    {"instability", kLearning, 0, "stop-and-notify", ""},
    {kUserRule, kOwn, kTrips, "stop-and-notify", ""},
};

bool has(std::string_view kind, IncidentKind::Flag flag) {
  const IncidentKind* known = find_incident_kind(kind);
  return known != nullptr && (known->flags & flag) != 0;
}

}  // namespace

std::span<const IncidentKind> incident_kinds() { return kKinds; }

const IncidentKind* find_incident_kind(std::string_view word) {
  const auto found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [word](const IncidentKind& one) { return one.word == word; });
  return found == std::end(kKinds) ? nullptr : &*found;
}

bool ends_runs(std::string_view kind) { return has(kind, kEndsRun); }
bool is_resource(std::string_view kind) { return has(kind, kResource); }
bool taints(std::string_view kind) { return has(kind, kTaints); }
bool trips_breaker(std::string_view kind) { return has(kind, kTrips); }

bool may_lead_to(std::string_view cause, std::string_view effect) {
  const IncidentKind* known = find_incident_kind(cause);
  std::string_view rest = known == nullptr ? std::string_view() : known->leads_to;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word == effect) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

std::string_view usual_reaction(std::string_view kind) {
  const IncidentKind* known = find_incident_kind(kind);
  return known == nullptr ? "stop-and-notify" : known->reaction;
}

}  // namespace mw
