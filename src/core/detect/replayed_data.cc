// After a resume the data begin anew: the attempt's steps have the prompts of the first steps of an earlier attempt.
// The steps that it repeats have the same data as before where all is well, and so have those of a run that begins from
// scratch.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kSame{"same", 5, "points", "Steps in a row with the same figure as those at the former start", "own"};
constexpr Knob kDistinct{"distinct", 4, "values", "Among them: what repeats itself anyway says nothing", "own"};
constexpr Knob kOther{"other", 2, "points",
                      "Steps that both attempts did, with other data: then it is certain, else an epoch may have ended",
                      "own"};
constexpr Knob kKnobs[] = {kSame, kDistinct, kOther};

constexpr double kEpochEnd = 0.02;  // epochs that a rounded figure may be off

constexpr size_t kBeginning = 32;     // steps of an attempt that are looked at
constexpr size_t kAttemptsBack = 16;  // that one is compared with

/// The figure at the first steps of each attempt, none of which may be missing.
std::vector<std::vector<Point>> beginnings(const Series& series, size_t attempts) {
  std::vector<std::vector<Point>> all(attempts);
  for (const Series::Part& part : series.parts()) {
    if (part.attempt >= attempts || !all[part.attempt].empty()) continue;
    std::vector<Point>& points = all[part.attempt];
    for (size_t i = part.begin; i < part.end && points.size() < kBeginning; ++i) {
      const Point& point = series.points()[i];
      if (point.step == kNoStep || !std::isfinite(point.value)) continue;
      if (!points.empty() && point.step != points.back().step + 1) break;
      points.push_back(point);
    }
  }
  return all;
}

std::optional<double> value_of(const Series& series, size_t attempt, int64_t step) {
  const std::vector<double> values = last_values(series, static_cast<uint16_t>(attempt), step, step, 1);
  return values.empty() ? std::nullopt : std::optional(values.front());
}

/// How many of the first steps have what `former` has as many steps after its own beginning; 0 when they are too few
/// to tell.
size_t repeated(const std::vector<Point>& former, const std::vector<Point>& later) {
  std::set<double> distinct;
  for (size_t i = 0; i < std::min(former.size(), later.size()) && former[i].value == later[i].value; ++i) {
    distinct.insert(later[i].value);
    if (i + 1 >= points_of(kSame) && distinct.size() >= points_of(kDistinct)) return i + 1;
  }
  return 0;
}

/// Does the former attempt itself come back to its beginning after `shift` steps, or after a part of them?
bool comes_back(const Series& series, size_t attempt, const std::vector<Point>& beginning, int64_t shift) {
  for (int64_t period = 1; period <= shift; ++period) {
    if (shift % period != 0) continue;
    size_t compared = 0;
    bool same = true;
    while (same && compared < std::min(beginning.size(), points_of(kSame))) {
      const auto again = value_of(series, attempt, beginning[compared].step + period);
      if (!again) break;
      same = *again == beginning[compared++].value;
    }
    if (same && compared >= points_of(kOther)) return true;
  }
  return false;
}

/// An epoch ended right before `step` of `attempt`, as far as the run says.
bool at_epoch_end(const State& state, uint16_t attempt, int64_t step) {
  const Series* series = state.find("epoch");
  if (series == nullptr) return false;
  const std::vector<double> here = last_values(*series, attempt, step, step, 1);
  const std::vector<double> before = last_values(*series, static_cast<uint16_t>(attempt - 1), step - 1, step - 1, 1);
  if (here.empty() || before.empty()) return false;
  const double done = std::round(before.front());
  return done >= 1 && std::abs(before.front() - done) < kEpochEnd
             ? true
             : std::floor(here.front()) > std::floor(before.front());
}

/// Of the steps that the former attempt did as well: those with the same data, and with other.
struct Overlap {
  size_t same = 0, other = 0;
};
Overlap overlap_of(const Series& series, size_t former, std::span<const Point> steps) {
  Overlap out;
  for (const Point& point : steps) {
    const auto then = value_of(series, former, point.step);
    if (then) ++(*then == point.value ? out.same : out.other);
  }
  return out;
}

/// The answers repeat as well: the weights are those of the former start.
bool same_answers(const State& state, size_t former, std::span<const Point> steps, int64_t shift) {
  const Series* lengths = state.find("response.length");
  if (lengths == nullptr) return false;
  return std::all_of(steps.begin(), steps.end(), [&](const Point& point) {
    const auto now = value_of(*lengths, point.attempt, point.step),
               then = value_of(*lengths, former, point.step - shift);
    return now && then && *now == *then;
  });
}

bool judge_pair(const State& state, const Series& series, const std::vector<Point>& then, const std::vector<Point>& now,
                std::vector<Finding>& out) {
  const size_t count = repeated(then, now);
  if (count == 0) return false;
  const size_t former = then.front().attempt, later = now.front().attempt;
  const int64_t from = now.front().step, shift = from - then.front().step;
  if (shift <= 0 || comes_back(series, former, then, shift)) return false;
  const auto steps = std::span(now).first(count);
  const Overlap overlap = overlap_of(series, former, steps);
  if (overlap.same > overlap.other || at_epoch_end(state, static_cast<uint16_t>(later), from)) return false;
  const bool weights = same_answers(state, former, steps, shift);
  const bool certain = weights || overlap.other >= points_of(kOther);
  Finding finding = make_finding(
      "replayed-data", "repeated-data", certain ? Severity::kWarning : Severity::kInfo, steps.front(), steps.back(),
      cat("The data begin anew after the resume: steps ", from, " to ", steps.back().step, " of attempt ", later + 1,
          weights ? " have the prompts and the answers of steps " : " have the prompts of steps ", from - shift, " to ",
          steps.back().step - shift, " of attempt ", former + 1, certain ? "" : ", unless an epoch ended there"));
  for (size_t i = 0; i < 3; ++i) {
    add_figure(finding, series.signal, then[i].step, then[i].value);
    add_figure(finding, series.signal, now[i].step, now[i].value);
  }
  finding.suggests.push_back({"dataloader-state-missing", 0.6, "the same prompts in the same order"});
  if (weights) finding.suggests.push_back({"resume-silently-from-scratch", 0.7, "the answers are the same as well"});
  out.push_back(std::move(finding));
  return true;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  if (state.attempts.size() < 2) return;
  for (const std::string_view signal : {"prompt.length", "prompt.length_max", "response.length"}) {
    const Series* series = state.find(signal);
    if (series == nullptr) continue;
    const std::vector<std::vector<Point>> all = beginnings(*series, state.attempts.size());
    for (size_t later = 1; later < all.size(); ++later) {
      for (size_t former = later; former-- > 0 && later - former <= kAttemptsBack;) {
        if (judge_pair(state, *series, all[former], all[later], out)) return;
      }
    }
    return;
  }
}

}  // namespace

extern const Detector replayed_data;
const Detector replayed_data{
    "replayed-data", "After a resume the data begin anew instead of going on.", {"repeated-data"}, kKnobs, judge};

}  // namespace mw::detect
