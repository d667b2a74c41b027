// The dumps of PyTorch's flight recorder show a collective for which some ranks wait and to which others did not come.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/collective_ranks.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"ranks", 2, "ranks", "Of which there must be a dump", "own"},
};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const SignatureState* seen = state.signature("nccl-flight-recorder");
  if (seen == nullptr || seen->matches.empty()) return;
  for (size_t attempt = 0; attempt < state.attempts.size(); ++attempt) {
    const std::string missing = missing_in_dumps(state, static_cast<uint16_t>(attempt));
    if (missing.empty()) continue;
    Finding finding;
    finding.kind = "collective-timeout";
    finding.detector = "collective-dumps";
    finding.severity = Severity::kWarning;
    for (const SignatureState::Match& match : seen->matches) {
      if (match.moment.attempt != attempt) continue;
      if (finding.evidence.empty()) finding.onset = match.moment;
      finding.detected = match.moment;
      finding.evidence.push_back({match.moment.where, match.text, "", kNoStep, 0});
    }
    finding.summary = cat("By the flight recorders' dumps, ", missing);
    finding.suggests.push_back({"nccl-watchdog-timeout", 0.5, missing});
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector collective_dumps;
const Detector collective_dumps{"collective-dumps",
                                "PyTorch's flight recorders show a collective to which some ranks did not come.",
                                {"collective-timeout"},
                                kKnobs,
                                judge};

}  // namespace mw::detect
