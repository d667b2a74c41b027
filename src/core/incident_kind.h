// ONE table of incident kinds: what each means for the run, and what it may lead to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mw {

struct IncidentKind {
  enum class Family : uint8_t {
    kProcess,   ///< a process ended, or does nothing
    kMachine,   ///< memory, disks, GPUs
    kSetup,     ///< code, settings, data, network, what the trainer depends on
    kRecord,    ///< checkpoints and logs
    kLearning,  ///< figures of what is learnt
    kOwn,       ///< a rule of the user's
  };
  enum Flag : uint8_t {
    kEndsRun = 1,   ///< critical, it ends the run
    kResource = 2,  ///< never the echo of a program's own exception: what reports it knows more than that
    kTaints = 4,    ///< what is saved after its onset may have learnt from poisoned data
    kTrips = 8,     ///< the circuit breaker may end an attempt for it, once it is critical and certain (decision 0011)
  };
  std::string_view word;
  Family family;
  uint8_t flags;              ///< of Flag
  std::string_view reaction;  ///< where the cause says none
  /// Kinds that it makes likely, separated by spaces (failure catalogue, "Causal chains worth modelling").
  std::string_view leads_to;
};
std::span<const IncidentKind> incident_kinds();
/// nullptr when there is none of this name.
const IncidentKind* find_incident_kind(std::string_view word);

/// Is it one of the incident kinds that this program knows ("crash", "engine-dead", ...)?
inline bool is_incident_kind(std::string_view word) { return find_incident_kind(word) != nullptr; }
bool ends_runs(std::string_view kind);
bool is_resource(std::string_view kind);
bool taints(std::string_view kind);
bool trips_breaker(std::string_view kind);
bool may_lead_to(std::string_view cause, std::string_view effect);
/// "stop-and-notify" for one that is not known.
std::string_view usual_reaction(std::string_view kind);

}  // namespace mw
