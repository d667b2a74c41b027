#include "core/detect/support/lead_rank.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw::detect {
namespace {

constexpr double kFlushedSeconds = 120;    // within which processes that die of one failure have all said so
constexpr uint64_t kFlushedLines = 20000;  // the tracebacks of some hundred ranks

// Roots and symptoms that a rank shows as well when another one has died: it waits for that one in a collective, in a
// barrier or at the meeting point, or calls it.
constexpr std::array<std::string_view, 13> kEchoes = {"nccl-watchdog-timeout",
                                                      "nccl-heartbeat-monitor-abort",
                                                      "nccl-unhandled-system-error",
                                                      "nccl-socket-connect-failed",
                                                      "gloo-timeout",
                                                      "gloo-connectfullmesh-failed",
                                                      "torch-monitored-barrier-timeout",
                                                      "torch-rendezvous-timeout",
                                                      "hccl-communication-timeout",
                                                      "ray-worker-died-unexpectedly",
                                                      "ray-actor-died",
                                                      "ray-actor-unavailable",
                                                      "ray-object-lost"};

// Of those, comes_late().
constexpr std::array<std::string_view, 4> kLate = {"nccl-watchdog-timeout", "nccl-heartbeat-monitor-abort",
                                                   "gloo-timeout", "hccl-communication-timeout"};

/// Its process waited for somebody else, perhaps for longer than the others waited for it.
bool waited(const Symptom& symptom) {
  return symptom.trace != nullptr && contains(symptom.trace->trace.exception, "Timeout");
}

bool is_echo(const Symptom& symptom) {
  return std::find(kEchoes.begin(), kEchoes.end(), cause_of(symptom)) != kEchoes.end();
}

/// It may follow from a run that hangs: what a person does about it, and what others say of a process that is gone. An
/// exception that speaks of a server says what its own process waited for.
bool follows_an_echo(const Symptom& symptom) {
  constexpr std::array<std::string_view, 6> kKinds = {"interrupted",        "preempted", "worker-lost",
                                                      "collective-timeout", "stall",     "engine-dead"};
  const auto* const end = symptom.signature != nullptr ? kKinds.end() : kKinds.end() - 1;
  return std::find(kKinds.begin(), end, kind_of(symptom)) != end;
}

/// It says of what its own process failed, though no signature calls it the root of failures.
bool says_own_failure(const Symptom& symptom) {
  if (symptom.signature == nullptr || symptom.signature->role != Role::kSymptom || is_echo(symptom)) return false;
  return kind_of(symptom) != "crash" && !follows_an_echo(symptom);
}

}  // namespace

bool comes_late(const Symptom& symptom) {
  return std::find(kLate.begin(), kLate.end(), cause_of(symptom)) != kLate.end();
}

bool ends_a_process(const Symptom& symptom) {
  if (symptom.within != nullptr) return true;
  // What needs a figure or a host sign beside the text decides nothing by the text alone (matching rule 3).
  if (symptom.signature != nullptr && !symptom.signature->fatal && !symptom.signature->metric_rule.empty())
    return false;
  return symptom.trace != nullptr || symptom.signature->fatal || symptom.signature->severity == Severity::kCritical;
}

int lead_rank(const Symptom& symptom, bool barren) {
  if (!ends_a_process(symptom)) return barren && is_root(symptom) ? 2 : 0;
  if (is_root(symptom)) return symptom.named ? 9 : may_be_echo(symptom) ? 6 : 8;
  if (symptom.signature != nullptr && symptom.signature->role == Role::kConfirmation) return 1;
  const bool crash = kind_of(symptom) == "crash";
  if (symptom.signature != nullptr && symptom.signature->role == Role::kCascade) {
    return symptom.within != nullptr && !crash ? 3 : 1;
  }
  if (says_own_failure(symptom)) return 7;
  return crash ? 2 : may_be_echo(symptom) ? 4 : 5;
}

bool may_be_echo(const Symptom& symptom) {
  if (symptom.signature == nullptr) return !is_root(symptom) || is_echo(symptom);
  return symptom.signature->role == Role::kCascade || is_echo(symptom);
}

bool may_have_caused(const Symptom& later, const Symptom& echo) {
  // Ray's own say of what became of processes when it starts others.
  if (later.trace != nullptr && bare_exception(later.trace->trace.exception) == "RaySystemError") return false;
  const bool in_order = later.moment.where.source == echo.moment.where.source;
  if (in_order && comes_late(echo) && !waited(later)) return false;
  if (follows_an_echo(later) || (later.signature != nullptr && later.signature->wrapper)) return false;
  const TraceState *one = trace_of(later), *other = trace_of(echo);
  const bool same = one != nullptr && other != nullptr && one->trace.pid != -1 && one->trace.pid == other->trace.pid;
  if (same) return false;  // what a process says after it has heard of another's death
  if (later.moment.at.known() && echo.moment.at.known()) {
    return (later.moment.at - echo.moment.at).seconds() <= kFlushedSeconds;
  }
  return later.moment.where.source != echo.moment.where.source ||
         later.moment.where.line <= echo.last_line + kFlushedLines;
}

}  // namespace mw::detect
