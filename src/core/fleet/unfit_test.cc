#include "core/fleet/unfit.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw::fleet {
namespace {

Incident incident(std::string kind, Severity severity, uint16_t attempt) {
  Incident out;
  out.kind = std::move(kind);
  out.severity = severity;
  out.onset.attempt = out.latest.attempt = attempt;
  out.summary = "what was seen";
  return out;
}

TEST_CASE("a run that ended by a full disk or a broken GPU may go on elsewhere, and by nothing else") {
  State state;
  state.attempts.resize(2);
  CHECK(unfit_by(state).empty());
  state.incidents = {incident("gpu-fault", Severity::kCritical, 0)};  // of an attempt that was followed by another
  CHECK(unfit_by(state).empty());
  state.incidents.push_back(incident("disk-full", Severity::kWarning, 1));
  state.incidents.push_back(incident("code-error", Severity::kCritical, 1));
  CHECK(unfit_by(state).empty());
  state.incidents.push_back(incident("disk-full", Severity::kCritical, 1));
  CHECK(unfit_by(state) == "disk-full: what was seen");
  state.incidents = {incident("gpu-fault", Severity::kCritical, 1)};
  CHECK(contains(unfit_by(state), "gpu-fault"));
}

}  // namespace
}  // namespace mw::fleet
