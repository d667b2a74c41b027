#include "ui/view/incident_chains.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "core/incident_kind.h"

namespace mw {
namespace {

constexpr size_t kNamed = 4;  // incidents in one sentence

bool leads_to(const Incident& cause, const Incident& effect) {
  return std::find(cause.followed_by.begin(), cause.followed_by.end(), effect.id) != cause.followed_by.end();
}

/// It failed around the trainer: what is learnt shows it, and does not bring it about.
bool is_around(const Incident& incident) {
  const IncidentKind* kind = find_incident_kind(incident.kind);
  using enum IncidentKind::Family;
  return kind != nullptr && (kind->family == kProcess || kind->family == kMachine || kind->family == kSetup);
}

std::string named(const std::vector<const Incident*>& incidents) {
  std::string out;
  const size_t shown = std::min(incidents.size(), kNamed);
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && shown == incidents.size();
    out += cat(i == 0 ? "" : last ? " and " : ", ", "#", incidents[i]->id, " ", incidents[i]->kind);
  }
  return incidents.size() > shown ? cat(out, " and ", incidents.size() - shown, " more") : out;
}

}  // namespace

IncidentChains::IncidentChains(const State& state)
    : state_(state), parents_(state.incidents.size()), failure_(state.incidents.size()) {
  std::iota(failure_.begin(), failure_.end(), size_t{0});
  for (size_t effect = 0; effect < parents_.size(); ++effect) {
    const Incident& later = state.incidents[effect];
    if (later.severity == Severity::kInfo) continue;
    for (size_t cause = effect; cause-- > 0;) {
      const Incident& before = state.incidents[cause];
      if (before.severity == Severity::kInfo || !leads_to(before, later)) continue;
      if (parents_[effect].empty() || is_around(before)) parents_[effect].push_back(cause);
    }
    for (const size_t cause : parents_[effect]) {
      const size_t a = failure_[cause], b = failure_[effect], first = std::min(a, b);
      for (size_t& failure : failure_) {
        if (failure == a || failure == b) failure = first;
      }
    }
  }
}

size_t IncidentChains::index_of(const Incident& incident) const {
  return static_cast<size_t>(&incident - state_.incidents.data());
}

std::vector<bool> IncidentChains::above(size_t index) const {
  std::vector<bool> all(parents_.size(), false);
  all[index] = true;
  for (size_t i = index + 1; i-- > 0;) {  // a cause stands before its effect
    if (!all[i]) continue;
    for (const size_t cause : parents_[i]) all[cause] = true;
  }
  all[index] = false;
  return all;
}

const Incident* IncidentChains::cause_of(const Incident& incident) const {
  const size_t index = index_of(incident);
  return index >= parents_.size() || parents_[index].empty() ? nullptr : &state_.incidents[parents_[index].front()];
}

std::vector<const Incident*> IncidentChains::causes_of(const Incident& incident) const {
  std::vector<const Incident*> causes;
  if (index_of(incident) >= parents_.size()) return causes;
  const std::vector<bool> all = above(index_of(incident));
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]) causes.push_back(&state_.incidents[i]);
  }
  return causes;
}

std::vector<const Incident*> IncidentChains::effects_of(const Incident& incident) const {
  std::vector<const Incident*> effects;
  const size_t index = index_of(incident);
  for (size_t i = index + 1; i < parents_.size(); ++i) {
    if (failure_[i] == failure_[index] && above(i)[index]) effects.push_back(&state_.incidents[i]);
  }
  return effects;
}

std::vector<const Incident*> IncidentChains::chain_of(const Incident& incident) const {
  const size_t index = index_of(incident);
  if (index >= parents_.size()) return {&incident};
  std::vector<const Incident*> chain;
  for (size_t i = 0; i < failure_.size(); ++i) {
    if (failure_[i] == failure_[index]) chain.push_back(&state_.incidents[i]);
  }
  return chain;
}

std::string chain_words(const IncidentChains& chains, const Incident& incident) {
  const std::vector<const Incident*> before = chains.causes_of(incident), after = chains.effects_of(incident);
  std::string words;
  if (!before.empty()) words += cat(" It came of ", named(before), ".");
  if (!after.empty()) words += cat(" It led to ", named(after), ".");
  return words;
}

}  // namespace mw
