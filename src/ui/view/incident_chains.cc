#include "ui/view/incident_chains.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace mw {
namespace {

constexpr int64_t kNearSteps = 20;
constexpr double kNearSeconds = 1800;
constexpr size_t kNamed = 4;  // incidents in one sentence

bool leads_to(const Incident& cause, const Incident& effect) {
  return std::find(cause.followed_by.begin(), cause.followed_by.end(), effect.id) != cause.followed_by.end();
}

/// What was over long before has brought nothing about.
bool reaches(const Incident& cause, const Incident& effect) {
  if (cause.open) return true;
  const Moment &a = cause.onset, &b = effect.onset;
  if (a.step != kNoStep && b.step != kNoStep && a.attempt == b.attempt) return b.step - a.step <= kNearSteps;
  return a.at.known() && b.at.known() && (b.at - a.at).seconds() <= kNearSeconds;
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

IncidentChains::IncidentChains(const State& state) : state_(state), parents_(state.incidents.size()) {
  std::iota(parents_.begin(), parents_.end(), size_t{0});
  for (size_t effect = 0; effect < parents_.size(); ++effect) {
    const Incident& later = state.incidents[effect];
    if (later.severity == Severity::kInfo) continue;
    for (size_t cause = effect; cause-- > 0;) {
      const Incident& before = state.incidents[cause];
      if (before.severity == Severity::kInfo || !leads_to(before, later) || !reaches(before, later)) continue;
      parents_[effect] = cause;
      break;
    }
  }
}

size_t IncidentChains::root_of(size_t index) const {
  while (parents_[index] != index) index = parents_[index];  // a cause stands before its effect: it ends
  return index;
}

const Incident* IncidentChains::cause_of(const Incident& incident) const {
  const auto index = static_cast<size_t>(&incident - state_.incidents.data());
  return index >= parents_.size() || parents_[index] == index ? nullptr : &state_.incidents[parents_[index]];
}

std::vector<const Incident*> IncidentChains::chain_of(const Incident& incident) const {
  const auto index = static_cast<size_t>(&incident - state_.incidents.data());
  if (index >= parents_.size()) return {&incident};
  std::vector<const Incident*> chain;
  for (size_t i = 0; i < parents_.size(); ++i) {
    if (root_of(i) == root_of(index)) chain.push_back(&state_.incidents[i]);
  }
  return chain;
}

std::string chain_words(const IncidentChains& chains, const Incident& incident) {
  std::vector<const Incident*> before, after;
  for (const Incident* part : chains.chain_of(incident)) {
    if (part->id < incident.id) before.push_back(part);
    if (part->id > incident.id) after.push_back(part);
  }
  std::string words;
  if (!before.empty()) words += cat(" It came of ", named(before), ".");
  if (!after.empty()) words += cat(" It led to ", named(after), ".");
  return words;
}

}  // namespace mw
