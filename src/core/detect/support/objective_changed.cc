#include "core/detect/support/objective_changed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/mixture.h"
#include "core/detect/tools/true_measure.h"
#include "core/evaluation_name.h"

namespace mw::detect {
namespace {

constexpr std::string_view kChanged = "objective-changed";  // the signature, and the cause
constexpr size_t kQuoted = 120;                             // bytes of a line
constexpr size_t kWidth = 10;                               // points of a figure on either side
constexpr size_t kEvaluations = 2;                          // since the fall: one is luck
constexpr size_t kFew = 12;                                 // values that the figure of a stage has at most

/// The steps around the fall in which a change explains it.
struct Span {
  int64_t from, to;
  uint16_t attempt;
  bool holds(int64_t step, uint16_t of) const { return of == attempt && step != kNoStep && from <= step && step <= to; }
};

Span span_around(const Track& track, size_t onset) {
  const size_t before = std::min(onset, points_of(kSaidBefore));
  const size_t after = std::min(track.size() - 1, onset + points_of(kSaidAfter));
  return {track.points[onset - before].step, track.points[after].step, track.points[onset].attempt};
}

std::string said(const State& state, const Track& track, const Span& span) {
  const double most = std::max(3.0, kSaidSeldom.value * static_cast<double>(track.size()));
  for (const SignatureState& seen : state.signatures) {
    if (seen.sample || seen.id != kChanged || static_cast<double>(seen.count) > most) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (!span.holds(match.moment.step, match.moment.attempt)) continue;
      return cat("its log says at step ", match.moment.step, ": \"", clip(match.text, kQuoted), "\"");
    }
  }
  return "";
}

/// A counter of stages, or a setting of the task, by its name.
bool is_of_task(std::string_view name) {
  constexpr std::array<std::string_view, 4> kParts = {"curriculum", "difficulty", "stage", "penalty_coef"};
  constexpr std::array<std::string_view, 3> kNot = {"time", "timing", "loss"};
  const auto holds = [name](std::string_view part) { return contains_folded(name, part); };
  return std::any_of(kParts.begin(), kParts.end(), holds) && std::none_of(kNot.begin(), kNot.end(), holds);
}

/// One of few whole values, which changed within the span.
std::string stepped(const State& state, const Span& span) {
  for (const Series& series : state.series) {
    if (!is_of_task(series.raw.empty() ? series.signal : series.raw)) continue;
    const std::vector<Point>& points = series.points();
    size_t changes = 0;
    std::string words;
    for (size_t i = 1; i < points.size() && changes < kFew; ++i) {
      if (points[i].value == points[i - 1].value || points[i].attempt != points[i - 1].attempt) continue;
      ++changes;
      if (words.empty() && span.holds(points[i].step, points[i].attempt))
        words = cat(series.raw.empty() ? series.signal : series.raw, " went from ", points[i - 1].value, " to ",
                    points[i].value, " at step ", points[i].step);
    }
    if (changes < kFew && !words.empty()) return words;
  }
  return "";
}

/// A share of what is right, beside the reward that sums it up with what else is paid and punished.
bool measures_skill(const Series& series, const Series* reward) {
  if (&series == reward || (reward != nullptr && series.raw == reward->raw && series.signal == reward->signal))
    return false;
  return is_true_measure(series);
}

std::string held(const Series& series, const Point& onset, const Point& now) {
  const auto shift = shift_of(&series, onset, now, kWidth);
  if (!shift || !(shift->before > 0) || shift->after < (1 - kHolds.value) * shift->before) return "";
  if (series.min() == series.max()) return "";  // never measured, or solved throughout
  return cat(series.raw.empty() ? series.signal : series.raw, " went from ", format_short(shift->before, 3), " to ",
             format_short(shift->after, 3), " meanwhile: what the policy can do has not fallen");
}

std::string skill_held(const State& state, const Track& track, size_t onset) {
  const Point &from = track.points[onset], &now = track.points.back();
  for (const Series& series : state.series) {
    if (!measures_skill(series, track.series)) continue;
    if (std::string words = held(series, from, now); !words.empty()) return words;
  }
  for (const Series& series : state.eval) {
    if (evaluation_sense(series.raw.empty() ? series.signal : series.raw) != EvaluationSense::kHigher) continue;
    const auto since = std::count_if(series.points().begin(), series.points().end(), [&from](const Point& point) {
      return point.attempt == from.attempt && point.step > from.step;
    });
    if (static_cast<size_t>(since) < kEvaluations) continue;
    if (std::string words = held(series, from, now); !words.empty()) return words;
  }
  return "";
}

}  // namespace

std::string objective_changed(const State& state, const Track& track, size_t onset) {
  if (onset == 0 || onset >= track.size()) return "";
  const Span span = span_around(track, onset);
  if (std::string words = said(state, track, span); !words.empty()) return words;
  if (std::string words = stepped(state, span); !words.empty()) return words;
  return skill_held(state, track, onset);
}

std::string task_changed(const State& state, const Track& track, size_t onset) {
  return onset < track.size() ? stepped(state, span_around(track, onset)) : "";
}

void soften_by_objective(const State& state, const Track& track, Finding& finding) {
  if (finding.severity == Severity::kInfo) return;
  const size_t until = points_until(track, finding.onset.step);
  if (const std::string words = until == 0 ? "" : mixture_changed(state, track, until - 1); !words.empty()) {
    finding.severity = Severity::kInfo;
    finding.summary += cat("; ", words);
    finding.suggests.insert(finding.suggests.begin(), {std::string(kChanged), 0.75, words});
    return;
  }
  const std::string words = until == 0 ? "" : objective_changed(state, track, until - 1);
  if (words.empty()) return;
  finding.severity = Severity::kWarning;
  finding.summary += cat("; ", words);
  finding.suggests.insert(finding.suggests.begin(), {std::string(kChanged), 0.75, words});
}

}  // namespace mw::detect
