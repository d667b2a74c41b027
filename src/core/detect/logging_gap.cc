// A sink of metrics that stopped while another one of the same attempt went on.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

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

constexpr double kHoleRecords = 4;  // times as many records as a rhythm needs, before a hole in it means anything

/// A JSON document is written whole now and then, with each checkpoint or at the end: it is no sink that can fall
/// silent.
bool is_document(const SourceState& source) { return source.kind == "json"; }

bool is_regular(const SourceState& source) {
  return source.attempt >= 0 && !is_document(source) && static_cast<double>(source.steps.count()) >= kKnobs[0].value;
}

double period_of(const SourceState& source) {
  return static_cast<double>(source.steps.last() - source.steps.first()) /
         static_cast<double>(source.steps.count() - 1);
}

/// Records that say no step of their own are counted: as many as another sink has, one behind the other, are the same.
bool is_counted(const SourceState& source, const SourceState& other) {
  const auto count = static_cast<int64_t>(source.steps.count());
  return source.steps.first() <= 1 && source.steps.last() - source.steps.first() + 1 == count &&
         std::abs(count - static_cast<int64_t>(other.steps.count())) <= 2;
}

/// A hole in the steps of one sink: the records between were lost, or never written.
void judge_holes(const State& state, std::vector<Finding>& out) {
  std::map<uint32_t, const Series*> fullest;
  for (const Series& series : state.series) {
    if (series.empty()) continue;
    const Series*& known = fullest[series.points().front().where.source];
    if (known == nullptr || series.points().size() > known->points().size()) known = &series;
  }
  for (const auto& [number, series] : fullest) {
    const std::vector<Point>& points = series->points();
    if (number >= state.sources.size() || static_cast<double>(points.size()) < kHoleRecords * kKnobs[0].value) continue;
    if (series->count() > points.size()) continue;  // thinned out, or with values that are no numbers
    std::vector<int64_t> gaps;
    for (size_t i = 1; i < points.size(); ++i) {
      const bool same =
          points[i].attempt == points[i - 1].attempt && points[i].where.source == points[i - 1].where.source;
      const bool placed = points[i - 1].step != kNoStep;
      if (same && placed && points[i].step > points[i - 1].step) gaps.push_back(points[i].step - points[i - 1].step);
    }
    if (gaps.empty()) continue;
    std::vector<int64_t> sorted = gaps;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2), sorted.end());
    const double usual = static_cast<double>(sorted[sorted.size() / 2]);
    const double allowed = std::max(kKnobs[2].value, kKnobs[1].value * usual);
    for (size_t i = 1; i < points.size(); ++i) {
      const Point& before = points[i - 1];
      const Point& after = points[i];
      const bool same = after.attempt == before.attempt && after.where.source == before.where.source;
      if (!same || before.step == kNoStep || static_cast<double>(after.step - before.step) <= allowed) continue;
      Finding finding;
      finding.kind = finding.detector = "logging-gap";
      finding.severity = Severity::kInfo;
      finding.onset = {before.step, before.at, before.where, before.attempt};
      finding.detected = {after.step, after.at, after.where, after.attempt};
      finding.summary =
          cat(basename(state.sources[number].path), " has nothing between step ", before.step, " and step ", after.step,
              " although it usually has a record every ", static_cast<int64_t>(usual), " steps");
      finding.suggests.push_back({"evidence-gap-at-onset", 0.3, "records are missing"});
      out.push_back(std::move(finding));
      break;
    }
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  judge_holes(state, out);
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
    if (behind <= allowed || !began_with_it || is_counted(silent, *further)) continue;
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
