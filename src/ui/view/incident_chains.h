// Incidents that are one failure: what began it, and what came of it, shown together.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Joins incidents above info by what may have led to what (`Incident::followed_by`). Of several signs of learning the
/// last one before counts; what failed around the trainer (a network, an engine, a judge, a machine) counts beside it,
/// so that a failure is followed back to what began it. Points into the state.
class IncidentChains {
 public:
  explicit IncidentChains(const State& state);

  /// What brought the incident about at once; null: nothing that is known.
  const Incident* cause_of(const Incident& incident) const;
  /// All that it came of, and all that came of it, in order of onset.
  std::vector<const Incident*> causes_of(const Incident& incident) const;
  std::vector<const Incident*> effects_of(const Incident& incident) const;
  /// The failure that the incident is a part of, in order of onset, with the incident itself; what began it leads.
  std::vector<const Incident*> chain_of(const Incident& incident) const;

 private:
  size_t index_of(const Incident& incident) const;
  std::vector<bool> above(size_t index) const;  ///< all that it came of

  const State& state_;
  std::vector<std::vector<size_t>> parents_;  ///< indices of what brought each about, the last first
  std::vector<size_t> failure_;               ///< the first incident of the failure that each is a part of
};

/// " It came of #2 entropy-explosion. It led to #7 zero-reward and #8 truncation."; "" of one that stands alone.
std::string chain_words(const IncidentChains& chains, const Incident& incident);

}  // namespace mw
