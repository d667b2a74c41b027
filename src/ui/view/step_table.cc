#include "ui/view/step_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "base/text.h"
#include "core/signal.h"
#include "ui/view/overview.h"
#include "ui/view/phase_series.h"

namespace mw {
namespace {

constexpr size_t kFamilyMost = 12;    // members of one family, such as reward functions
constexpr size_t kConstantMost = 12;  // signals named as constant
constexpr double kManyTimes = 1000;   // per cent
constexpr double kShortest = 0.001;   // seconds: a phase that never takes as long was not in these steps
constexpr double kNotSaid = std::numeric_limits<double>::quiet_NaN();

/// What people look at step by step, in the order of their reports. "x.*" stands for a family.
constexpr std::string_view kShown[] = {"reward.mean",
                                       "reward.component.*",
                                       "reward.pass_rate",
                                       "format.pass_rate",
                                       "reward.zero_std_groups",
                                       "accuracy.preference",
                                       "accuracy.token",
                                       "margin",
                                       "entropy",
                                       "kl.ref",
                                       "kl.step",
                                       "grad_norm",
                                       "loss.policy",
                                       "loss.value",
                                       "loss.total",
                                       "clip.frac",
                                       "mismatch.kl",
                                       "staleness",
                                       "lr",
                                       "response.length",
                                       "response.truncated",
                                       "turns",
                                       "tools.calls",
                                       "env.error_rate",
                                       "time.step",
                                       "time.rollout",
                                       "time.tools",
                                       "time.reward",
                                       "time.logprob",
                                       "time.advantage",
                                       "time.train",
                                       "time.sync",
                                       "time.save",
                                       "time.eval",
                                       "time.wait",
                                       "throughput.tokens",
                                       "throughput.samples"};

/// These are shown even where they never change: that they do not is what matters.
bool always_shown(std::string_view name) {
  return name == "reward.mean" || name == "entropy" || name == "grad_norm" || name == "reward.pass_rate";
}

struct Track {
  std::string name, unit;
  std::vector<Point> points;  // of the attempt, one per step, ascending
};

/// The last value of each step.
std::vector<Point> by_step(const std::vector<Point>& all, uint16_t attempt) {
  std::vector<Point> points;
  for (const Point& point : all) {
    if (point.attempt == attempt && point.step != kNoStep) points.push_back(point);
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.step < b.step; });
  std::vector<Point> last;
  for (const Point& point : points) {
    if (!last.empty() && last.back().step == point.step) last.pop_back();
    last.push_back(point);
  }
  return last;
}

std::vector<std::string> members_of(const State& state, std::string_view pattern) {
  if (!pattern.ends_with('*')) return {std::string(pattern)};
  std::set<std::string> names;
  for (const Series& series : state.series) {
    if (series.signal.starts_with(pattern.substr(0, pattern.size() - 1)) && series.signal != kListedRewards)
      names.insert(series.signal);
  }
  std::vector<std::string> members(names.begin(), names.end());
  if (members.size() > kFamilyMost) members.resize(kFamilyMost);
  return members;
}

std::vector<Track> tracks_of(const State& state, uint16_t attempt) {
  std::vector<Track> tracks;
  const auto phases = phase_series(state);  // the log may be ahead of the metrics
  for (const std::string_view pattern : kShown) {
    for (const std::string& name : members_of(state, pattern)) {
      Track track{name, "", {}};
      if (const SignalRow* row = find_signal(name); row != nullptr) track.unit = row->unit;
      if (const Series* series = shown_signal(state, phases, name); series != nullptr)
        track.points = by_step(series->points(), attempt);
      // A counter of steps among the rewards is none.
      const bool counter =
          track.points.size() > 1 && std::all_of(track.points.begin(), track.points.end(),
                                                 [](auto& p) { return p.value == static_cast<double>(p.step); });
      if (!track.points.empty() && !counter) tracks.push_back(std::move(track));
    }
  }
  return tracks;
}

/// The steps that the table may show: those of the reward, else of what is said most often; and the last of all, whose
/// figures may not all be there yet.
std::vector<int64_t> steps_of(const std::vector<Track>& tracks) {
  const Track* base = nullptr;
  for (const Track& track : tracks) {
    if (track.name == "reward.mean" && track.points.size() > 1) {
      base = &track;
      break;
    }
    if (base == nullptr || track.points.size() > base->points.size()) base = &track;
  }
  std::vector<int64_t> steps;
  if (base == nullptr) return steps;
  for (const Point& point : base->points) steps.push_back(point.step);
  int64_t last = steps.back();
  for (const Track& track : tracks) last = std::max(last, track.points.back().step);
  if (last > steps.back()) steps.push_back(last);
  return steps;
}

bool never_changes(const Track& track) {
  return track.points.size() > 1 && std::all_of(track.points.begin(), track.points.end(), [&](const Point& point) {
           return point.value == track.points.front().value;
         });
}

/// Trainers with one reward function log it twice.
bool same_as_reward(const StepTable& table, const StepRow& row) {
  return !table.rows.empty() && table.rows.front().name == "reward.mean" && table.rows.front().values == row.values;
}

std::string change_of(const std::vector<double>& values, std::string_view unit) {
  if (values.size() < 2) return "";
  const double before = values[values.size() - 2], after = values.back();
  if (!std::isfinite(before) || !std::isfinite(after)) return "";
  const double change = after - before;
  if (change == 0) return "0";
  const bool relative = unit == "s" || unit == "tokens" || unit == "tokens/s" || unit == "1/s";
  if (!relative || before == 0) return cat(change > 0 ? "+" : "", format_short(change, 2));
  const double percent = std::round(100 * change / std::fabs(before));
  if (std::fabs(percent) >= kManyTimes)  // from next to nothing: how much it is says more
    return cat(change > 0 ? "+" : "-", unit == "s" ? format_duration(Duration::seconds(std::fabs(change)))
                                                   : format_short(std::fabs(change), 4));
  return std::fabs(percent) < 1 ? "< 1 %" : cat(percent > 0 ? "+" : "", format_short(percent, 4), " %");
}

std::string trend_in(const std::vector<double>& values) {
  std::vector<Point> points;
  points.reserve(values.size());
  for (const double value : values) points.push_back({0, value, {}, {}, 0});
  const Trend trend = trend_of(points);
  return trend == Trend::kNoisy ? "up and down" : std::string(trend_word(trend));
}

StepTable make_table(const State& state, const std::vector<Track>& tracks, std::vector<int64_t> steps) {
  StepTable table;
  table.zone = zone_of_times(state);
  table.steps = std::move(steps);
  table.done.resize(table.steps.size());
  size_t constants = 0;
  for (const Track& track : tracks) {
    const size_t columns = table.steps.size();
    StepRow row{track.name, track.unit, std::vector<double>(columns, kNotSaid), std::vector<bool>(columns), "", ""};
    for (const Point& point : track.points) {
      const auto at = std::lower_bound(table.steps.begin(), table.steps.end(), point.step);
      if (at == table.steps.end() || *at != point.step) continue;
      const auto column = static_cast<size_t>(at - table.steps.begin());
      row.values[column] = point.value;
      row.said[column] = true;
      table.done[column] = std::max(table.done[column], point.at);
    }
    if (never_changes(track) && !always_shown(track.name)) {
      if (++constants > kConstantMost) continue;
      table.constant +=
          cat(table.constant.empty() ? "" : ", ", track.name, " ", step_value(row, track.points[0].value));
      continue;
    }
    if (std::find(row.said.begin(), row.said.end(), true) == row.said.end()) continue;
    const auto nothing = [&row](double value) { return row.unit == "s" && !(value >= kShortest); };
    if (std::all_of(row.values.begin(), row.values.end(), nothing)) continue;
    if (track.name.starts_with("reward.component.") && same_as_reward(table, row)) continue;
    row.change = change_of(row.values, row.unit);
    row.trend = trend_in(row.values);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

StepTable last_steps(const State& state, size_t most) {
  for (size_t i = state.attempts.size(); i-- > 0;) {
    const std::vector<Track> tracks = tracks_of(state, static_cast<uint16_t>(i));
    std::vector<int64_t> steps = steps_of(tracks);
    if (steps.empty()) continue;
    if (steps.size() > most) steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(most));
    return make_table(state, tracks, std::move(steps));
  }
  return {};
}

StepTable steps_around(const State& state, const Moment& moment, size_t most) {
  if (moment.step == kNoStep || most < 2) return {};
  const std::vector<Track> tracks = tracks_of(state, moment.attempt);
  const std::vector<int64_t> all = steps_of(tracks);
  const auto onset = static_cast<size_t>(std::lower_bound(all.begin(), all.end(), moment.step) - all.begin());
  const bool last = moment.attempt + 1U >= state.attempts.size();
  if (all.size() <= most || onset >= all.size() || (last && onset + most > all.size() + most / 2)) return {};
  const size_t before = std::min(onset, most / 2);
  const size_t from = std::min(onset - before, all.size() - most);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
  return make_table(state, tracks, {first, first + static_cast<std::ptrdiff_t>(most)});
}

std::vector<std::string> step_clocks(const StepTable& table) {
  std::set<std::string> days;
  for (const Time at : table.done) {
    if (at.known()) days.insert(when(at).substr(0, 10));
  }
  std::vector<std::string> clocks;
  for (const Time at : table.done) {
    const std::string text = when(at);
    clocks.push_back(text.empty()      ? ""
                     : days.size() > 1 ? cat(text.substr(5, 5), " ", text.substr(11, 5))
                                       : text.substr(11, 8));
  }
  return clocks;
}

std::string step_value(const StepRow& row, double value, size_t cells) {
  if (row.unit == "s" && std::isfinite(value) && value >= 0) return format_duration(Duration::seconds(value));
  std::string text = format_value(value, row.unit);
  for (int digits = 3; text.size() > cells && digits > 0; --digits) text = format_short(value, digits);
  return text;
}

std::vector<std::string> step_cells(const StepRow& row, size_t cells) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < row.values.size(); ++i)
    texts.push_back(row.said[i] ? step_value(row, row.values[i], cells) : std::string());
  return texts;
}

}  // namespace mw
