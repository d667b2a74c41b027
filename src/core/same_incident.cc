#include "core/same_incident.h"

#include <algorithm>
#include <tuple>

namespace mw {
namespace {

bool same_moment(const Moment& a, const Moment& b) {
  return std::tie(a.step, a.at, a.where, a.attempt) == std::tie(b.step, b.at, b.where, b.attempt);
}

bool same_evidence(const Evidence& a, const Evidence& b) {
  return std::tie(a.where, a.text, a.signal, a.step, a.value) == std::tie(b.where, b.text, b.signal, b.step, b.value);
}

bool same_cause(const RankedCause& a, const RankedCause& b) {
  return std::tie(a.id, a.title, a.score, a.reasons_for, a.reasons_against, a.check, a.fix) ==
         std::tie(b.id, b.title, b.score, b.reasons_for, b.reasons_against, b.check, b.fix);
}

template <typename One>
bool all_same(const std::vector<One>& a, const std::vector<One>& b, bool (*alike)(const One&, const One&)) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
}

}  // namespace

bool same(const Incident& a, const Incident& b) {
  return std::tie(a.id, a.kind, a.severity, a.open, a.summary, a.reaction, a.followed_by) ==
             std::tie(b.id, b.kind, b.severity, b.open, b.summary, b.reaction, b.followed_by) &&
         same_moment(a.onset, b.onset) && same_moment(a.latest, b.latest) && same_moment(a.detected, b.detected) &&
         all_same(a.evidence, b.evidence, same_evidence) && all_same(a.causes, b.causes, same_cause);
}

bool same(const std::vector<Incident>& a, const std::vector<Incident>& b) { return all_same(a, b, same); }

}  // namespace mw
