// NaN or Inf in what the run optimises.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"
#include "core/detect/support/settled.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kPersist{"persist", 3, "points", "An isolated overflow is skipped by loss scaling and heals",
                        "DeepSpeed and Megatron skip steps that overflow"};
constexpr Knob kWarmUp{"warm_up", 30, "points", "Loss scaling starts high and overflows while it finds its level",
                       "Megatron, fp16: about 20 skipped steps at the start"};
constexpr Knob kBeside{"beside", 10, "points",
                       "A figure beside the loss may have no samples for some steps (a task that a batch lacks)",
                       "own"};
constexpr Knob kRare{"rare", 0.1, "ratio",
                     "Of the records before, without a value: such a part of the reward is not computed at each step",
                     "own"};
constexpr Knob kKnobs[] = {kPersist, kWarmUp, kBeside, kRare};

struct Watched {
  std::string_view signal;
  bool may_overflow;  ///< Inf here is how mixed precision says "step skipped"
  bool updates;       ///< the weights follow it, so that they are gone with it
};
constexpr std::array kWatched = {
    Watched{"loss.total", false, true},   Watched{"loss.policy", false, true}, Watched{"loss.value", false, true},
    Watched{"loss.kl", false, true},      Watched{"grad_norm", true, true},    Watched{"grad_norm.value", true, true},
    Watched{"kl.ref", false, false},      Watched{"kl.step", false, false},    Watched{"entropy", false, false},
    Watched{"reward.mean", false, false}, Watched{"ratio.mean", false, false}};

struct Burst {
  size_t first = 0, count = 0, last = 0;
};

/// Bursts of non-finite points that follow each other in one attempt.
std::vector<Burst> bursts_of(const std::vector<Point>& points) {
  std::vector<Burst> out;
  for (size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].value)) continue;
    const bool goes_on = !out.empty() && out.back().last + 1 == i && points[i - 1].attempt == points[i].attempt;
    if (!goes_on) out.push_back({i, 0, i});
    ++out.back().count;
    out.back().last = i;
  }
  return out;
}

/// Is the point the last that its attempt says? While the attempt goes on, every point is for a while.
bool said_last(const State& state, const std::vector<Point>& points, size_t index) {
  if (index + 1 < points.size() && points[index + 1].attempt == points[index].attempt) return false;
  return is_over(state, points[index].attempt);
}

Severity severity_of(const State& state, const Watched& watched, const std::vector<Point>& points, const Burst& burst,
                     bool scaled) {
  const bool overflow = watched.may_overflow && (scaled || std::isinf(points[burst.first].value));
  const bool over = burst.last + 1 == points.size() && said_last(state, points, burst.last);
  const size_t persist = points_of(watched.updates ? kPersist : kBeside);
  const bool lasting = burst.count >= persist || over;
  if (overflow) {
    if (burst.last < points_of(kWarmUp) && !over) return Severity::kInfo;
    return burst.count >= points_of(kPersist) ? Severity::kCritical : Severity::kInfo;
  }
  if (lasting) return Severity::kCritical;
  // One gradient that is NaN leaves no weight a number: where the next is one, its update was skipped.
  const bool skipped = watched.may_overflow && burst.count == 1 && burst.last + 1 < points.size();
  return skipped ? Severity::kInfo : Severity::kWarning;
}

/// A signal that was never a number is one that the trainer does not compute, unless it is what is optimised. TRL
/// records a KL only where it is a part of the loss (beta > 0), and transformers hides the loss that is NaN with it:
/// `logging_nan_inf_filter`, on by default, puts the mean of the other steps in its place.
bool meant(const State& state, const Series& series, std::string_view signal) {
  if (series.non_finite() < series.count()) return true;
  if (signal == "kl.ref" && state.framework == "trl") return true;
  return signal == "grad_norm" || signal == "loss.total" || signal == "loss.policy";
}

/// In the middle of a sentence. A run may say no steps.
std::string since(const Point& first) { return first.step == kNoStep ? ", " : cat(" from step ", first.step, " on, "); }

Finding finding_of(const Watched& watched, const std::vector<Point>& points, const Burst& burst, Severity severity,
                   bool scaled) {
  const Point& first = points[burst.first];
  const size_t enough = severity == Severity::kCritical ? points_of(kPersist) - 1 : 0;
  Finding finding =
      make_finding("non-finite", "non-finite", severity, first, points[std::min(burst.first + enough, burst.last)],
                   cat(watched.signal, " is ", format_double(first.value), since(first), burst.count, " records"));
  add_figure(finding, watched.signal, first.step, first.value);
  finding.evidence.back().where = first.where;
  if (burst.last + 1 < points.size()) resolve(finding, points[burst.last + 1]);
  finding.suggests.push_back({"nan-loss", 0.6, cat(watched.signal, " is not a number")});
  if (watched.may_overflow) {
    finding.suggests.push_back({"deepspeed-overflow-skip", scaled ? 0.4 : 0.2, "gradient overflow skips the update"});
  }
  return finding;
}

bool is_part(const Series& series) {
  return series.signal.starts_with("reward.component.") && !contains_folded(series.signal, "std");
}

/// A stretch of steps on which a part of the reward has no number. Some sinks write NaN, others leave it out (as JSON
/// has none, transformers prints None): then only the records of the reward beside it count.
struct Gap {
  Point before, first, detected;  ///< the last record with a number; the first without; that of kBeside's
  size_t records = 0;
  bool written = false;  ///< as NaN or Inf
  std::optional<Point> ended;
};

std::optional<Gap> written_gap(const Series& part) {
  if (part.non_finite() == 0) return std::nullopt;
  const std::vector<Point>& points = part.points();
  for (const Burst& burst : bursts_of(points)) {
    if (burst.count < points_of(kBeside) || burst.first < points_of(kPersist)) continue;
    const auto without = std::count_if(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(burst.first),
                                       [](const Point& point) { return !std::isfinite(point.value); });
    if (static_cast<double>(without) > kRare.value * static_cast<double>(burst.first)) continue;
    Gap gap;
    gap.before = points[burst.first - 1];
    gap.first = points[burst.first];
    gap.detected = points[burst.first + points_of(kBeside) - 1];
    gap.records = burst.count;
    gap.written = true;
    if (burst.last + 1 < points.size()) gap.ended = points[burst.last + 1];
    return gap;
  }
  return std::nullopt;
}

/// `reward`: of the same source.
std::optional<Gap> silent_gap(const Series& part, const Series& reward) {
  const Point& last = part.points().back();
  if (reward.empty() || reward.points().back().step <= last.step) return std::nullopt;  // both go on
  size_t before = 0;
  Gap gap;
  gap.before = last;
  for (const Point& point : reward.points()) {
    if (point.attempt != last.attempt || point.where.source != last.where.source) continue;
    if (point.step <= last.step) {
      ++before;
    } else if (++gap.records == 1) {
      gap.first = point;
    } else if (gap.records == points_of(kBeside)) {
      gap.detected = point;
    }
  }
  const auto had = std::count_if(part.points().begin(), part.points().end(), [&](const Point& point) {
    return point.attempt == last.attempt && point.where.source == last.where.source;
  });
  const bool usual =
      before >= points_of(kBeside) && static_cast<double>(had) >= (1 - kRare.value) * static_cast<double>(before);
  return usual && gap.records >= points_of(kBeside) ? std::optional(gap) : std::nullopt;
}

/// What the run optimises is the rest of its reward then: trainers leave what is no number out of the mean.
void judge_parts(const State& state, std::map<uint16_t, Finding>& worst) {
  const Series* const reward = state.find("reward.mean");
  for (const Series& part : state.series) {
    if (part.empty() || !is_part(part)) continue;
    auto gap = written_gap(part);
    if (!gap && reward != nullptr && part.points().size() == part.count()) gap = silent_gap(part, *reward);
    if (!gap || worst.count(gap->first.attempt) > 0) continue;
    Finding finding = make_finding(
        "non-finite", "non-finite", Severity::kWarning, gap->first, gap->detected,
        cat(part.raw, gap->written ? " is " : " has no value", gap->written ? format_double(gap->first.value) : "",
            since(gap->first), gap->records, " records: the run optimises the rest of its reward"));
    add_figure(finding, part.signal, gap->before.step, gap->before.value);
    finding.evidence.back().where = gap->first.where;
    if (gap->ended) resolve(finding, *gap->ended);
    finding.suggests.push_back({"reward-nan", 0.7, cat(part.raw, gap->written ? " is not a number" : " has no value")});
    worst[gap->first.attempt] = std::move(finding);
  }
}

/// TRL logs the mean of the policy's logits. Where it is no number while the loss is one, some logits are not finite:
/// numbers that overflow in half precision, or a vocabulary with masked places.
void judge_logits(const State& state, std::map<uint16_t, Finding>& worst) {
  for (const Series& series : state.series) {
    const bool logits = series.raw.ends_with("logits/chosen") || series.raw.ends_with("logits/rejected");
    if (!logits || series.non_finite() < series.count() || series.points().size() < 2) continue;
    const Point& first = series.points().front();
    if (worst.count(first.attempt) > 0) continue;
    Finding finding = make_finding("non-finite", "non-finite", Severity::kWarning, first, series.points()[1],
                                   cat(series.raw, " is ", format_double(first.value), since(first), series.count(),
                                       " records: some logits of the policy are not finite, though the loss is"));
    add_figure(finding, series.raw, first.step, first.value);
    finding.evidence.back().where = first.where;
    finding.suggests.push_back({"nan-probability-tensor", 0.5, "the mean of the logits is not a number"});
    worst[first.attempt] = std::move(finding);
  }
}

/// Pairs of answers whose log-probabilities are no number make their step's loss none, too. Transformers leaves such
/// losses out of the mean that it logs (`logging_nan_inf_filter`), so that only the figures beside it show them.
void judge_pairs(const State& state, std::map<uint16_t, Finding>& worst) {
  constexpr std::array<std::string_view, 4> kNames = {"logps/chosen", "logps/rejected", "rewards/chosen",
                                                      "rewards/rejected"};
  std::map<uint16_t, std::map<int64_t, const Point*>> bad;  // by attempt and step
  std::string name;
  size_t records = 0;
  for (const Series& series : state.series) {
    const bool pairs =
        std::any_of(kNames.begin(), kNames.end(), [&](std::string_view one) { return series.raw == one; });
    if (!pairs) continue;
    records = std::max(records, static_cast<size_t>(series.count()));
    if (series.non_finite() == series.count()) continue;  // judge_logits, or never computed
    for (const Point& point : series.points()) {
      if (std::isfinite(point.value)) continue;
      if (bad.empty()) name = series.raw;
      bad[point.attempt].emplace(point.step, &point);
    }
  }
  for (const auto& [attempt, steps] : bad) {
    if (worst.count(attempt) > 0) continue;
    const Point &first = *steps.begin()->second, &last = *steps.rbegin()->second;
    Finding finding = make_finding("non-finite", "non-finite", Severity::kWarning, first, last,
                                   cat("The figures of the pairs are not finite in ", steps.size(), " of ", records,
                                       " records, first", first.step == kNoStep ? "" : cat(" at step ", first.step),
                                       ": the loss of a batch in them was none either, though the logged one is"));
    add_figure(finding, name, first.step, first.value);
    finding.evidence.back().where = first.where;
    finding.suggests.push_back({"nan-loss", 0.6, cat(name, " is not a number")});
    worst[attempt] = std::move(finding);
  }
}

/// Of several files that have a loss or a norm at the same steps, those of ranks, only one has it as no number from
/// some step to its end: what is judged above is the file with the most records.
void judge_ranks(const State& state, bool scaled, std::map<uint16_t, Finding>& worst) {
  for (const Watched& watched : kWatched) {
    if (!watched.updates || state.find(watched.signal) == nullptr) continue;
    for (const Series& series : state.series) {
      if (series.signal != watched.signal || series.non_finite() == 0 || series.non_finite() == series.count())
        continue;
      const std::vector<Burst> bursts = bursts_of(series.points());
      const bool lasts = !bursts.empty() && bursts.back().last + 1 == series.points().size();
      if (!lasts || bursts.back().count < points_of(kBeside) || bursts.back().first < points_of(kPersist)) continue;
      const uint16_t attempt = series.points()[bursts.back().first].attempt;
      const auto known = worst.find(attempt);
      const int64_t step = series.points()[bursts.back().first].step;
      const bool graver = known == worst.end() || known->second.severity < Severity::kCritical;
      if (!graver && (step == kNoStep || known->second.onset.step <= step)) continue;
      worst[attempt] = finding_of(watched, series.points(), bursts.back(), Severity::kCritical, scaled);
    }
  }
}

/// Mixed precision with a scale that moves. A trainer in bfloat16 may print the scale, which is 1 throughout: there a
/// gradient that is NaN is no overflow that a smaller scale makes good.
bool scales_loss(const State& state) {
  const Series* scale = state.find("loss_scale");
  return scale != nullptr && std::any_of(scale->points().begin(), scale->points().end(),
                                         [](const Point& point) { return point.value != 1; });
}

/// The series of the signal that has what is no number. Of a loss it may be another one than that of the records: what
/// a bar shows of the step whose record never came, after the last that did.
const Series* broken_series(const State& state, const Watched& watched) {
  const Series* const series = state.find(watched.signal);
  if (series == nullptr || series->empty() || series->non_finite() > 0 || !watched.updates) return series;
  for (const Series& other : state.series) {
    if (other.signal != watched.signal || other.empty() || other.non_finite() < other.count()) continue;
    const Point &last = series->points().back(), &first = other.points().front();
    if (first.attempt == last.attempt && first.step >= last.step && other.count() >= points_of(kPersist)) return &other;
  }
  return series;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const bool scaled = scales_loss(state);
  std::map<uint16_t, Finding> worst;  // one chain an attempt: the gravest, of those that end a run the earliest
  for (const Watched& watched : kWatched) {
    const Series* series = broken_series(state, watched);
    if (series == nullptr || series->non_finite() == 0) continue;
    for (const Burst& burst : bursts_of(series->points())) {
      const Severity severity = meant(state, *series, watched.signal)
                                    ? severity_of(state, watched, series->points(), burst, scaled)
                                    : Severity::kInfo;
      const uint16_t attempt = series->points()[burst.first].attempt;
      const auto known = worst.find(attempt);
      if (known != worst.end() && severity < known->second.severity) continue;
      const bool earlier = known != worst.end() && series->points()[burst.first].step < known->second.onset.step;
      if (known != worst.end() && severity == known->second.severity && !(earlier && severity == Severity::kCritical)) {
        continue;
      }
      worst[attempt] = finding_of(watched, series->points(), burst, severity, scaled);
    }
  }
  judge_ranks(state, scaled, worst);
  judge_parts(state, worst);
  judge_logits(state, worst);
  judge_pairs(state, worst);
  for (auto& [attempt, finding] : worst) out.push_back(std::move(finding));
}

}  // namespace

extern const Detector non_finite;
const Detector non_finite{
    "non-finite", "NaN or Inf in loss, gradient norm, KL, entropy or reward.", {"non-finite"}, kKnobs, judge};

}  // namespace mw::detect
