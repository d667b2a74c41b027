// Incidents that are one failure: what began it, and what came of it, shown together.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Joins incidents above info by what may have led to what (`Incident::followed_by`), as long as the cause stood open
/// or lay close before. Of several causes the last one before counts. Points into the state.
class IncidentChains {
 public:
  explicit IncidentChains(const State& state);

  /// What brought the incident about; null: nothing that is known.
  const Incident* cause_of(const Incident& incident) const;
  /// The failure that the incident is a part of, in order of onset, with the incident itself.
  std::vector<const Incident*> chain_of(const Incident& incident) const;

 private:
  size_t root_of(size_t index) const;

  const State& state_;
  std::vector<size_t> parents_;  ///< index of the cause of each incident; its own: it has none
};

/// " It came of #2 entropy-explosion. It led to #7 zero-reward and #8 truncation."; "" of one that stands alone.
std::string chain_words(const IncidentChains& chains, const Incident& incident);

}  // namespace mw
