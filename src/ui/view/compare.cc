#include "ui/view/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "core/advance.h"
#include "core/signal.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

constexpr double kDifferent = 0.05;  // of the range of both: less is noise to a reader

std::map<int64_t, double> by_step(const std::vector<Point>& points) {
  std::map<int64_t, double> values;
  for (const Point& p : points) {
    if (std::isfinite(p.value) && p.step != kNoStep) values[p.step] = p.value;
  }
  return values;
}

double mean_over(const std::vector<Point>& points) {
  double sum = 0, n = 0;
  for (const Point& p : points) {
    if (!std::isfinite(p.value)) continue;
    sum += p.value;
    n += 1;
  }
  return n > 0 ? sum / n : std::nan("");
}

ComparedMetric compare_series(const Series& a, const Series& b) {
  ComparedMetric result;
  result.a = a.points();
  result.b = b.points();
  result.a_last = a.last();
  result.b_last = b.last();
  const auto left = by_step(a.points()), right = by_step(b.points());
  result.takes_both_signs = std::min(a.min(), b.min()) < 0 && std::max(a.max(), b.max()) > 0;
  const double range = std::max(a.max(), b.max()) - std::min(a.min(), b.min());
  double a_sum = 0, b_sum = 0;
  for (const auto& [step, value] : left) {
    const auto twin = right.find(step);
    if (twin == right.end()) continue;
    ++result.common_steps;
    a_sum += value;
    b_sum += twin->second;
    if (result.first_difference == kNoStep && std::fabs(value - twin->second) > kDifferent * range) {
      result.first_difference = step;
    }
  }
  const auto n = static_cast<double>(result.common_steps);
  result.a_mean = n > 0 ? a_sum / n : mean_over(a.points());
  result.b_mean = n > 0 ? b_sum / n : mean_over(b.points());
  return result;
}

/// W&B's summary is what a run came to, and the names and times of a run are its own.
bool is_no_setting(std::string_view key) { return key.starts_with("summary/") || key.starts_with("run/"); }

}  // namespace

std::vector<ComparedStep> side_by_side(const ComparedMetric& metric, size_t most) {
  const auto left = by_step(metric.a), right = by_step(metric.b);
  std::vector<ComparedStep> both, rows;
  for (const auto& [step, value] : left) {
    if (const auto twin = right.find(step); twin != right.end()) both.push_back({step, value, twin->second});
  }
  if (most < 2 || both.size() <= most) return both;
  for (size_t i = 0; i < most; ++i) rows.push_back(both[i * (both.size() - 1) / (most - 1)]);
  const auto part = std::find_if(both.begin(), both.end(),
                                 [&](const ComparedStep& row) { return row.step == metric.first_difference; });
  if (part == both.end()) return rows;
  const auto place = std::lower_bound(rows.begin(), rows.end(), part->step,
                                      [](const ComparedStep& row, int64_t step) { return row.step < step; });
  if (place == rows.end() || place->step != part->step) rows.insert(place, *part);
  return rows;
}

Comparison compare(const State& a, const State& b) {
  Comparison result;
  for (const SignalLine& line : canonical_metrics(a, {})) {
    const Series* left = a.find(line.name);
    const Series* right = b.find(line.name);
    if (left == nullptr || right == nullptr || right->empty()) continue;
    ComparedMetric metric = compare_series(*left, *right);
    metric.name = line.name;
    metric.unit = line.unit;
    result.metrics.push_back(std::move(metric));
  }
  for (const SignalLine& line : other_metrics(a, {})) {
    const Series* right = b.find_raw(line.name);
    if (right == nullptr || right->empty()) continue;
    ComparedMetric metric = compare_series(*line.series, *right);
    metric.name = line.name;
    result.metrics.push_back(std::move(metric));
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : a.config) keys.insert(key);
  for (const auto& [key, value] : b.config) keys.insert(key);
  for (const std::string& key : keys) {
    if (is_no_setting(key)) continue;
    const auto left = a.config.find(key), right = b.config.find(key);
    const std::string x = left == a.config.end() ? "" : left->second, y = right == b.config.end() ? "" : right->second;
    if (x != y) result.settings.push_back({key, x, y});
  }
  return result;
}

namespace {

/// `state` with only those points that `keep` wants.
template <typename Keep>
State narrowed(State state, const Keep& keep) {
  const auto of = [&keep](const std::vector<Series>& all) {
    std::vector<Series> kept;
    for (const Series& series : all) {
      Series copy;
      copy.signal = series.signal;
      copy.raw = series.raw;
      copy.source = series.source;
      for (const Point& p : series.points()) {
        if (keep(p)) copy.add(p);
      }
      if (!copy.empty()) kept.push_back(std::move(copy));
    }
    return kept;
  };
  state.series = of(state.series);
  state.eval = of(state.eval);
  state.series_index.clear();  // they point into the old lists
  state.eval_index.clear();
  state.merged.clear();
  state.done_steps = {};
  return state;
}

}  // namespace

State attempt_of(const State& state, size_t attempt) {
  const size_t index = attempt - 1;
  const auto own = [index](const auto& dated) { return dated.first.attempt == index; };
  State part = narrowed(state, [index](const Point& p) { return p.attempt == index; });
  for (std::vector<Series>* all : {&part.series, &part.eval}) {
    for (Series& series : *all) series.move_attempt(static_cast<uint16_t>(index), 0);
  }
  for (SourceState& source : part.sources) source.steps = Ranges();
  for (const Series& series : part.series) {
    if (series.source >= part.sources.size()) continue;
    for (const Point& p : series.points()) {
      if (p.step != kNoStep) part.sources[series.source].steps.add(p.step);
    }
  }
  if (index >= part.attempts.size()) return part;
  part.attempts = {state.attempts[index]};
  if (part.attempts.front().total_steps > 0) part.total_steps = part.attempts.front().total_steps;
  std::erase_if(part.checkpoints, [&own](const auto& saved) { return !own(saved); });
  std::erase_if(part.incidents, [index](const Incident& i) {
    return i.onset.attempt != index && i.latest.attempt != index;  // the same may have come back in a later one
  });
  for (Incident& incident : part.incidents) {
    for (Moment* moment : {&incident.onset, &incident.latest, &incident.detected}) moment->attempt = 0;
  }
  const bool last = attempt == state.attempts.size();
  part.closed = part.closed || !last;  // nothing more comes of it
  if (!last) part.progress.clear();    // a bar is kept by its title alone, as the last attempt has it
  part.verdict = verdict_of(part, part.incidents);
  return part;
}

State since(State state, const Cycle& cycle) {
  return narrowed(std::move(state), [&cycle](const Point& p) { return cycle.has(p); });
}

}  // namespace mw
