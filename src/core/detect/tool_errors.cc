// The model makes many failing tool calls by its own mistakes (unknown names, wrong arguments, broken syntax).
#include <algorithm>

#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kCalls{"calls", 50, "calls", "Fewer say little", "own"};
constexpr Knob kShare{"share", 0.5, "ratio", "Of the calls fail by the model's fault",
                      "field guide 4.3 rule 23 (5 % is a smell); models in training fail often"};
constexpr Knob kRate{"rate", 0.5, "ratio", "Logged failure rate", "the same"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "own"};
constexpr Knob kBack{"back", 10, "points", "At that rate or below it, in a row, end it", "hysteresis"};
constexpr Knob kKnobs[] = {kCalls, kShare, kRate, kPersist, kBack};

bool judge_counts(const State& state, std::vector<Finding>& out) {
  uint64_t calls = 0, errors = 0;
  std::string_view worst;
  uint64_t most = 0;
  for (const auto& [function, tool] : state.tools) {
    calls += tool.calls;
    errors += tool.model_errors;
    if (tool.model_errors > most) {
      most = tool.model_errors;
      worst = function;
    }
  }
  if (static_cast<double>(calls) < kCalls.value ||
      static_cast<double>(errors) < kShare.value * static_cast<double>(calls))
    return false;
  Finding finding;
  finding.kind = finding.detector = "tool-errors";
  finding.onset = state.attempts.empty() ? Moment{} : state.attempts.front().began;
  finding.detected = state.attempts.empty() ? Moment{} : state.attempts.back().last;
  finding.summary = cat(errors, " of ", calls, " tool calls fail by the model's own mistake, most of them in ", worst);
  finding.suggests.push_back(
      {"tool-hallucinated-argument", 0.5, "the calls fail before or inside the tool for what the model passed"});
  out.push_back(std::move(finding));
  return true;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_counts(state, out)) return;
  for (const Track& track : memory.tracks(state, state.find("tools.failure_rate"))) {
    for (const Stretch& stretch : stretches_of(track, {kRate.value, points_of(kPersist), points_of(kBack)})) {
      Finding finding = make_finding("tool-errors", "tool-errors", Severity::kWarning, track.points[stretch.first],
                                     track.points[stretch.detected],
                                     cat(format_short(100 * track.values[stretch.detected], 3), " % of the tool calls ",
                                         stretch.ended ? "failed" : "fail"));
      add_figures(finding, track, stretch.first, stretch.detected);
      finding.suggests.push_back({"tool-hallucinated-argument", 0.5, "tool calls fail"});
      if (stretch.ended) resolve(finding, track.points[*stretch.ended]);
      out.push_back(std::move(finding));
    }
    if (!out.empty() && out.back().detector == "tool-errors") return;
  }
}

}  // namespace

extern const Detector tool_errors;
const Detector tool_errors{
    "tool-errors", "Many tool calls fail by the model's own mistakes.", {"tool-errors"}, kKnobs, judge};

}  // namespace mw::detect
