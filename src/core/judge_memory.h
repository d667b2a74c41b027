// What one judgement leaves for the next, so that it costs what is new: tracks of the series with walks along them that
// go on, and what was last decided. It belongs to one State, beside it, and whoever calls advance() keeps it. All of it
// is derived: with an empty one the same incidents are found, for the price of a walk over the whole run.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/detect/support/failure_chain.h"
#include "core/detect/tools/kept_track.h"
#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

class JudgeMemory {
 public:
  /// The state may have changed: what is made once in a judgement is made anew.
  void begin();

  /// As detect::tracks_of(); of a series of `state`, or of one that it put together.
  std::deque<detect::KeptTrack>& tracks(const State& state, const Series* series);
  /// As detect::symptoms_of() and detect::fatal_chains(), once in a judgement.
  const std::vector<detect::Symptom>& symptoms(const State& state, const Knowledge& knowledge);
  const std::vector<detect::FailureChain>& chains(const State& state, const Knowledge& knowledge);

  /// An incident as it was found, and as the state holds it: what is written of the two is the same.
  struct Written {
    Incident found, held;
  };
  std::map<uint32_t, Written> written;  ///< by number

 private:
  using Key = std::pair<int, size_t>;  // which list and index in it; where what was put together is kept

  std::map<Key, detect::KeptTracks> tracks_;
  std::deque<detect::KeptTrack> none_;
  std::vector<detect::Symptom> symptoms_;
  std::vector<detect::FailureChain> chains_;
  bool has_symptoms_ = false, has_chains_ = false;
};

}  // namespace mw
