// The model makes many failing tool calls by its own mistakes (unknown names, wrong arguments, broken syntax).
#include <algorithm>

#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kCalls{"calls", 50, "calls", "Fewer say little", "own"};
constexpr Knob kShare{"share", 0.5, "ratio", "Of the calls fail by the model's fault",
                      "field guide 4.3 rule 23 (5 % is a smell); models in training fail often"};
constexpr Knob kRate{"rate", 0.5, "ratio", "Logged failure rate", "the same"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "own"};
constexpr Knob kKnobs[] = {kCalls, kShare, kRate, kPersist};

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
    size_t streak = 0;
    for (size_t i = 0; i < track.size(); ++i) {
      streak = track.values[i] > kRate.value ? streak + 1 : 0;
      if (streak < points_of(kPersist)) continue;
      const size_t first = i + 1 - streak;
      Finding finding =
          make_finding("tool-errors", "tool-errors", Severity::kWarning, track.points[first], track.points[i],
                       cat(format_short(100 * track.values[i], 3), " % of the tool calls fail"));
      add_figures(finding, track, first, i);
      finding.suggests.push_back({"tool-hallucinated-argument", 0.5, "tool calls fail"});
      out.push_back(std::move(finding));
      return;
    }
  }
}

}  // namespace

extern const Detector tool_errors;
const Detector tool_errors{
    "tool-errors", "Many tool calls fail by the model's own mistakes.", {"tool-errors"}, kKnobs, judge};

}  // namespace mw::detect
