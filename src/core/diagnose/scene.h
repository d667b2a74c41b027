// What stands around an incident while its causes are weighed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/detect/support/service_words.h"
#include "core/diagnose/diagnose.h"
#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw::diagnose {

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kNearSteps = 3;  // within which one trouble brings about another

/// Questions that several rules ask of it. It keeps references only.
struct Scene {
  const Incident& incident;
  const std::vector<Suggestion>& suggestions;
  const std::vector<Incident>& all;
  const State& state;
  const Knowledge& knowledge;

  bool says(std::string_view lower) const;
  bool named(std::string_view cause) const;
  /// In the attempt in which this began, or, as of the machine, about when it did.
  bool seen(std::string_view signature) const;
  /// Answers began to be cut off in the course of the run and before this, and still are: what was so from the first
  /// steps on has brought about no change.
  bool cut_off_since() const;
  /// Connections to a server failed time and again in this attempt, from about where this began.
  bool unreachable() const;
  /// The service that most of these calls name, by a word or by their address; nullptr: none is named.
  const detect::Service* unreachable_service() const;
  /// Answers are about as long as they were: there is an engine that gives them.
  bool still_answers() const;
  /// Answers had become very short when this began, or were on their way there.
  bool shorter_since() const;
  /// The policy dissolved into noise before this. It takes more than a few updates: tokens that are random from the
  /// first ones on come of an engine with other weights than the trainer's.
  bool dissolved() const;
  /// The levels of a signal at the attempt's beginning and before this incident; nothing while there are too few.
  std::optional<std::pair<double, double>> levels_of(std::string_view signal) const;
  /// Answers had become shorter by kShrunk when this began, and the reward had gained nothing by it: answers that
  /// shrink while the reward rises are how training works.
  bool had_shrunk() const;
  /// Another incident of this kind that began no later than this one, in the same attempt, and at most so many steps
  /// before.
  bool preceded_by(std::string_view kind, int64_t steps = kNoLimit) const;
};

}  // namespace mw::diagnose
