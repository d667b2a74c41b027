// Findings → incidents: every detector judges the state; findings of one story become one incident.
#include <algorithm>
#include <vector>

#include "core/advance.h"
#include "core/detect/detector.h"

namespace mw {
namespace {

bool earlier(const Incident& a, const Incident& b) {
  if (a.onset.attempt != b.onset.attempt) return a.onset.attempt < b.onset.attempt;
  if (a.onset.step != b.onset.step) return a.onset.step < b.onset.step;
  return a.kind < b.kind;
}

Incident incident_of(const Finding& finding) {
  Incident incident;
  incident.kind = finding.kind;
  incident.severity = finding.severity;
  incident.onset = finding.onset;
  incident.detected = finding.detected;
  incident.open = !finding.resolved;
  incident.summary = finding.summary;
  incident.evidence = finding.evidence;
  for (const Finding::Suggestion& suggestion : finding.suggests) {
    incident.causes.push_back({suggestion.cause, suggestion.weight, {suggestion.reason}, {}, "", ""});
  }
  return incident;
}

}  // namespace

std::vector<Incident> judge(const State& state, const Knowledge& knowledge) {
  std::vector<Finding> findings;
  for (const Detector* detector : all_detectors()) detector->judge(state, knowledge, findings);
  std::vector<Incident> incidents;
  incidents.reserve(findings.size());
  for (const Finding& finding : findings) incidents.push_back(incident_of(finding));
  std::stable_sort(incidents.begin(), incidents.end(), earlier);
  for (size_t i = 0; i < incidents.size(); ++i) incidents[i].id = static_cast<uint32_t>(i + 1);
  return incidents;
}

}  // namespace mw
