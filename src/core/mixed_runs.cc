#include "core/mixed_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kSharedSteps = 10;       // that both log, before it means anything
constexpr double kSameWithin = 0.02;      // of the larger value: what rounding for a console may cost
constexpr double kNearlyAll = 0.8;        // of the shared steps
constexpr int kSignals = 3;               // that have to differ
constexpr size_t kComparedSources = 200;  // beyond them nobody is compared

using Steps = std::map<std::pair<uint16_t, int64_t>, double>;

Steps steps_of(const Series& series) {
  Steps steps;
  for (const Point& point : series.points()) {
    if (point.step != kNoStep && std::isfinite(point.value)) steps[{point.attempt, point.step}] = point.value;
  }
  return steps;
}

enum class Likeness { kUnknown, kSame, kOther };

Likeness compare(const Steps& a, const Steps& b) {
  size_t shared = 0, differ = 0;
  for (const auto& [step, value] : a) {
    const auto other = b.find(step);
    if (other == b.end()) continue;
    ++shared;
    if (figures_differ(value, other->second)) ++differ;
  }
  if (shared < kSharedSteps) return Likeness::kUnknown;
  return static_cast<double>(differ) >= kNearlyAll * static_cast<double>(shared) ? Likeness::kOther : Likeness::kSame;
}

struct Pair {
  int same = 0, other = 0;
  std::string signals;
};

}  // namespace

bool figures_differ(double a, double b) { return std::abs(a - b) > kSameWithin * std::max(std::abs(a), std::abs(b)); }

std::vector<std::string> mixed_runs(const State& state) {
  std::map<std::pair<uint32_t, uint32_t>, Pair> pairs;
  for (const std::string_view signal : kTellingSignals) {
    std::vector<const Series*> shown;
    for (const Series& series : state.series) {
      if (series.signal == signal && series.source < kComparedSources) shown.push_back(&series);
    }
    if (shown.size() < 2) continue;
    std::vector<std::pair<const Series*, Steps>> compared;
    compared.reserve(shown.size());
    for (const Series* series : shown) compared.emplace_back(series, steps_of(*series));
    for (size_t i = 0; i < compared.size(); ++i) {
      for (size_t k = i + 1; k < compared.size(); ++k) {
        const auto& [a, a_steps] = compared[i];
        const auto& [b, b_steps] = compared[k];
        if (a->source == b->source || a->raw != b->raw) continue;
        const Likeness likeness = compare(a_steps, b_steps);
        Pair& pair = pairs[std::minmax(a->source, b->source)];
        pair.same += likeness == Likeness::kSame ? 1 : 0;
        if (likeness != Likeness::kOther) continue;
        if (++pair.other <= kSignals) pair.signals += cat(pair.signals.empty() ? "" : ", ", signal);
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [sources, pair] : pairs) {
    if (pair.other < kSignals || pair.same > 0 || sentences.size() >= kMixedPairsReported) continue;
    const auto path = [&state](uint32_t source) {
      return source < state.sources.size() ? state.sources[source].path : std::string();
    };
    sentences.push_back(
        cat(path(sources.first), " and ", path(sources.second), " have different numbers for the same steps (",
            pair.signals,
            "): two runs, or ranks that log only what they see. What is said here is put together from both; "
            "give them one by one, or put them side by side with midwatch compare."));
  }
  return sentences;
}

}  // namespace mw
