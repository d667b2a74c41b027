// A sink of metrics that stopped while another one of the same attempt went on.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/detector.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"records_least", 5, "records", "A sink that wrote only a few records has no rhythm to break", "own choice"},
    {"silent_periods", 10, "periods of the sink", "A sink may lag by a flush or an interval, not by ten",
     "prime-rl logs to W&B in batches; report prime-rl-beautifulsoup-runs"},
    {"silent_steps", 20, "steps", "Short runs must not be judged by a handful of steps", "own choice"},
};

bool is_regular(const SourceState& source) {
  return source.attempt >= 0 && static_cast<double>(source.steps.count()) >= kKnobs[0].value;
}

double period_of(const SourceState& source) {
  return static_cast<double>(source.steps.last() - source.steps.first()) /
         static_cast<double>(source.steps.count() - 1);
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (size_t i = 0; i < state.sources.size(); ++i) {
    const SourceState& silent = state.sources[i];
    if (!is_regular(silent)) continue;
    const double allowed = std::max(kKnobs[2].value, kKnobs[1].value * period_of(silent));
    const SourceState* further = nullptr;
    for (const SourceState& other : state.sources) {
      if (!is_regular(other) || other.attempt != silent.attempt || other.kind == silent.kind) continue;
      if (further == nullptr || other.steps.last() > further->steps.last()) further = &other;
    }
    if (further == nullptr) continue;
    const double behind = static_cast<double>(further->steps.last() - silent.steps.last());
    const bool began_with_it = silent.steps.first() <= further->steps.first() + static_cast<int64_t>(allowed);
    if (behind <= allowed || !began_with_it) continue;
    Finding finding;
    finding.kind = "logging-gap";
    finding.detector = "logging-gap";
    finding.severity = Severity::kWarning;
    finding.onset = {silent.steps.last(),
                     silent.last_at,
                     {static_cast<uint32_t>(i), silent.last_line},
                     static_cast<uint16_t>(silent.attempt)};
    finding.detected = finding.onset;
    finding.detected.step = silent.steps.last() + static_cast<int64_t>(allowed);
    finding.summary = cat(basename(silent.path), " stops at step ", silent.steps.last(), " while ",
                          basename(further->path), " goes on to step ", further->steps.last());
    finding.suggests.push_back({"evidence-gap-at-onset", 0.3, "one sink went on without the other"});
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector logging_gap;
const Detector logging_gap{"logging-gap",
                           "One sink of metrics stopped while another one of the same attempt went on.",
                           {"logging-gap"},
                           kKnobs,
                           judge};

}  // namespace mw::detect
