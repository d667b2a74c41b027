#include "ui/view/overview.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "core/incident_kind.h"
#include "core/signal.h"
#include "core/step_done.h"
#include "core/trajectory.h"
#include "core/written_span.h"
#include "ui/view/pace.h"
#include "ui/view/phase_series.h"

namespace mw {
namespace {

constexpr size_t kTrendPoints = 6;     // fewest points whose quarters are compared
constexpr size_t kFewPoints = 3;       // fewer have no trend
constexpr double kSame = 0.02;         // of the larger one: values this close are the same
constexpr double kTrendSpreads = 1.0;  // quarters this many spreads apart are a trend
constexpr double kUnsaidShare = 0.02;  // of a step: less than this that no phase explains is not worth a row

double mean_of(const std::vector<double>& values, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += values[i];
  return to > from ? sum / static_cast<double>(to - from) : 0;
}

SignalLine make_line(const Series& series, const Cycle& cycle, std::string name, std::string unit, std::string group) {
  SignalLine line;
  line.name = std::move(name);
  line.raw = series.raw;
  line.unit = std::move(unit);
  line.group = std::move(group);
  line.series = &series;
  for (const Point& p : series.points()) {
    if (cycle.has(p)) line.points.push_back(p);
  }
  if (line.points.empty()) return line;
  for (const Point& p : series.points()) {
    if (cycle.has(p)) break;
    line.before = p.value;
  }
  line.first = line.points.front().value;
  line.last = line.points.back().value;
  if (cycle.whole()) {
    line.min = series.min();
    line.max = series.max();
  } else {
    line.min = line.max = line.first;
    for (const Point& p : line.points) {
      if (p.value < line.min || std::isnan(line.min)) line.min = p.value;
      if (p.value > line.max || std::isnan(line.max)) line.max = p.value;
    }
  }
  line.trend = trend_of(line.points);
  return line;
}

/// Three to five values: only what goes one way from first to last has a direction.
Trend trend_of_few(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most - *least <= kSame * std::max(std::fabs(*least), std::fabs(*most))) return Trend::kFlat;
  const bool rises = std::is_sorted(values.begin(), values.end());
  const bool falls = std::is_sorted(values.rbegin(), values.rend());
  return rises ? Trend::kRising : falls ? Trend::kFalling : Trend::kNoisy;
}

}  // namespace

std::string_view trend_word(Trend trend) {
  switch (trend) {
    case Trend::kFlat:
      return "flat";
    case Trend::kRising:
      return "rising";
    case Trend::kFalling:
      return "falling";
    case Trend::kNoisy:
      return "noisy";
    case Trend::kUnknown:
      break;
  }
  return "";
}

std::string_view trend_arrow(Trend trend) {
  switch (trend) {
    case Trend::kFlat:
      return "→";
    case Trend::kRising:
      return "↗";
    case Trend::kFalling:
      return "↘";
    case Trend::kNoisy:
      return "~";
    case Trend::kUnknown:
      break;
  }
  return "";
}

Trend trend_of(const std::vector<Point>& points) {
  std::vector<double> values;
  for (const Point& p : points) {
    if (std::isfinite(p.value)) values.push_back(p.value);
  }
  const size_t n = values.size();
  if (n < kTrendPoints) return n < kFewPoints ? Trend::kUnknown : trend_of_few(values);
  const size_t quarter = std::max<size_t>(2, n / 4);
  const double early = mean_of(values, 0, quarter), late = mean_of(values, n - quarter, n);
  // Spread of neighbouring differences: noise without the trend itself (von Neumann's estimator).
  double squares = 0;
  for (size_t i = 1; i < n; ++i) squares += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
  const double noise = std::sqrt(squares / (2.0 * static_cast<double>(n - 1)));
  const double scale = std::max(std::fabs(early), std::fabs(late));
  const double change = late - early;
  if (std::fabs(change) > kTrendSpreads * noise && std::fabs(change) > kSame * scale) {
    return change > 0 ? Trend::kRising : Trend::kFalling;
  }
  return noise > 0.25 * scale && scale > 0 ? Trend::kNoisy : Trend::kFlat;
}

std::vector<SignalLine> canonical_metrics(const State& state, const Cycle& cycle) {
  std::vector<SignalLine> lines;
  std::set<std::string> names;
  for (const Series& s : state.series) {
    if (!s.signal.empty() && !s.empty()) names.insert(s.signal);
  }
  const auto phases = phase_series(state);
  for (const auto& [name, series] : phases) {
    if (known_from_its_first(state, name)) names.insert(name);
  }
  size_t count = 0;
  const SignalRow* rows = all_signals(&count);
  for (size_t i = 0; i < count; ++i) {
    for (const std::string& name : names) {
      if (find_signal(name) != &rows[i]) continue;
      const Series* series = shown_signal(state, phases, name);
      if (series == nullptr || series->empty()) continue;
      lines.push_back(make_line(*series, cycle, name, std::string(rows[i].unit), std::string(rows[i].group)));
      lines.back().series = state.find(name);  // what is made of phases does not outlive this
      if (lines.back().points.empty()) lines.pop_back();
    }
  }
  return lines;
}

std::vector<SignalLine> other_metrics(const State& state, const Cycle& cycle) {
  std::map<std::string, const Series*> by_name;
  for (const Series* s : state.shown()) {
    if (s->signal.empty() && !s->empty() && !of_trajectory(s->raw)) by_name.try_emplace(s->raw, s);
  }
  std::vector<SignalLine> lines;
  for (const auto& [name, series] : by_name) {
    lines.push_back(make_line(*series, cycle, name, "", "other"));
    if (lines.back().points.empty()) lines.pop_back();
  }
  return lines;
}

std::vector<SignalLine> evaluations(const State& state, const Cycle& cycle) {
  std::vector<SignalLine> lines;
  for (const Series* s : state.shown(true)) {
    if (s->empty() || s->raw == "epoch" || s->raw.ends_with("/epoch")) continue;  // when it was, not what came of it
    lines.push_back(make_line(*s, cycle, s->raw, "1", "eval"));
    if (lines.back().points.empty()) lines.pop_back();
  }
  return lines;
}

std::string when(Time at) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (!at.known()) return "";
  return format_utc({at.ns - ((at.ns % kSecond) + kSecond) % kSecond});
}

std::string framework_text(const State& state) {
  constexpr double kSure = 0.9, kProbable = 0.6;
  if (state.framework.empty() || state.framework == "custom") return "no known framework";
  const double sure = state.framework_confidence;  // 0: a person named it
  return cat(sure >= kSure || sure <= 0 ? ""
             : sure >= kProbable        ? "probably "
                                        : "perhaps ",
             state.framework, state.version.empty() ? "" : " ", state.version);
}

std::string brief(std::string_view text, size_t limit) {
  text = trim(text.substr(0, text.find_first_of("\r\n")));
  if (text.size() <= limit) return std::string(text);
  const size_t space = text.substr(0, limit).rfind(' ');
  return clip(text, space == std::string_view::npos || space < limit / 2 ? limit : space);
}

std::string sentences(std::string_view text, size_t limit) {
  text = trim(text.substr(0, text.find_first_of("\r\n")));
  if (text.size() <= limit) return std::string(text);
  for (const std::string_view end : {". ", "; "}) {
    const size_t at = text.substr(0, limit).rfind(end);
    if (at != std::string_view::npos && at > limit / 4) return cat(text.substr(0, at), ".");
  }
  return brief(text, limit);
}

std::string format_label(const std::string& rule) {
  return rule == "context/fits" ? "context overflows (context/fits)" : rule;
}

std::string format_value(double value, std::string_view unit) {
  constexpr double kWhole = 1000, kCounted = 1e7, kLargest = 1e10;  // what a person still reads as a number
  const double size = std::fabs(value);
  if (!std::isfinite(value) || size < kWhole) return value == 0 ? "0" : format_short(value);
  if (unit == "bytes") return format_bytes(value);
  // 11850 tokens, not 1.185e+04
  if (size < kCounted || (size < kLargest && value == std::round(value))) return cat(std::llround(value));
  return format_short(value);
}

namespace {

/// Times in the cycle and seconds in all that the run spent in a phase; by its signal, else by its phase events.
TimeShare phase_time(const State& state, const std::map<std::string, Series, std::less<>>& phases, const Cycle& cycle,
                     std::string_view phase, size_t* points) {
  TimeShare part{std::string(phase), 0, 0};
  const std::string name = cat("time.", phase);
  if (const Series* s = state.find(name); s != nullptr && !s->empty()) {
    const SignalLine line = make_line(*shown_signal(state, phases, name), cycle, "", "", "");
    for (const Point& p : line.points) part.seconds_per_step += std::isfinite(p.value) && p.value > 0 ? p.value : 0;
    *points = std::max(*points, line.points.size());
  } else if (const auto at = state.phases.find(std::string(phase)); cycle.whole() && at != state.phases.end()) {
    part.seconds_per_step = std::max(0.0, at->second.seconds_sum);
    *points = std::max(*points, static_cast<size_t>(std::max<int64_t>(1, state.steps().count)));
  }
  return part;
}

/// A trainer that says how long it waited for samples waits for the rollout, which other processes say, too: the same
/// seconds do not count twice. Where the wait is long enough for all of the rollout, the wait is what is left of it;
/// where it is shorter, the rollout runs beside training, and the wait is what training did not hide.
void count_waiting_once(std::vector<TimeShare>& split, double step) {
  constexpr double kSlack = 0.05;  // of the step: clocks that are read a moment apart
  const auto phase = [&split](std::string_view name) {
    return std::find_if(split.begin(), split.end(), [name](const TimeShare& part) { return part.phase == name; });
  };
  double sum = 0;
  for (const TimeShare& part : split) sum += part.seconds_per_step;
  const auto wait = phase("wait"), rollout = phase("rollout");
  if (step <= 0 || wait == split.end() || rollout == split.end() || sum <= (1 + kSlack) * step) return;
  if (rollout->seconds_per_step > wait->seconds_per_step) {
    rollout->beside = true;
    return;
  }
  wait->seconds_per_step -= std::min(wait->seconds_per_step, sum - step);
  if (wait->seconds_per_step <= 0) split.erase(wait);
}

}  // namespace

std::vector<TimeShare> time_split(const State& state, const Cycle& cycle) {
  static constexpr std::string_view kPhases[] = {"rollout", "tools", "reward", "logprob", "advantage",
                                                 "train",   "sync",  "save",   "eval",    "wait"};
  std::vector<TimeShare> split;
  size_t steps = 0;  // a phase that only some steps have (saving, evaluation) is spread over all of them
  const auto phases = phase_series(state);
  const TimeShare whole = phase_time(state, phases, cycle, "step", &steps);
  for (const std::string_view phase : kPhases) {
    TimeShare part = phase_time(state, phases, cycle, phase, &steps);
    if (part.seconds_per_step > 0) split.push_back(std::move(part));
  }
  if (split.empty()) return split;
  count_waiting_once(split, whole.seconds_per_step);
  double sum = 0;
  for (const TimeShare& part : split) sum += part.beside ? 0 : part.seconds_per_step;
  double all = whole.seconds_per_step;
  // Phases that are a small part of what the steps take by the clock explain nothing.
  if (all <= 0) {
    const double clock = seconds_per_step(state) * static_cast<double>(steps);
    if (clock > kPartOfStep * sum) all = clock;
  }
  if (const double rest = all - sum; rest > kUnsaidShare * all) {
    split.push_back({"not said", rest, 0});
    sum += rest;
  }
  for (TimeShare& part : split) {
    part.share = part.beside ? 0 : part.seconds_per_step / sum;
    part.seconds_per_step /= static_cast<double>(std::max<size_t>(1, steps));
  }
  std::stable_sort(split.begin(), split.end(), [](const TimeShare& a, const TimeShare& b) {
    return a.beside != b.beside ? b.beside : a.seconds_per_step > b.seconds_per_step;
  });
  return split;
}

std::string bound_by(const std::vector<TimeShare>& split) {
  if (split.empty() || split.front().share < 0.5 || split.front().phase == "not said") return "";
  const std::string& phase = split.front().phase;
  if (phase == "rollout") return "generation";
  if (phase == "train" || phase == "logprob") return "training";
  if (phase == "tools") return "waiting for tools";
  if (phase == "sync") return "weight sync";
  if (phase == "save") return "saving";
  if (phase == "reward") return "reward computation";
  if (phase == "wait") return "waiting for samples";
  return phase;
}

std::vector<std::string> time_to_win(const std::vector<TimeShare>& split) {
  static constexpr std::pair<std::string_view, std::string_view> kIdle[] = {{"tools", "tools and environments"},
                                                                            {"reward", "the judge or reward function"},
                                                                            {"sync", "weight transfer"},
                                                                            {"save", "saving"},
                                                                            {"eval", "evaluation"},
                                                                            {"wait", "waiting for samples"}};
  constexpr double kWorth = 0.1;  // of a step
  double whole = 0;
  for (const TimeShare& part : split) whole += part.beside ? 0 : part.seconds_per_step;
  std::vector<std::string> out;
  for (const TimeShare& part : split) {
    const auto named =
        std::find_if(std::begin(kIdle), std::end(kIdle), [&](auto& one) { return one.first == part.phase; });
    if (named == std::end(kIdle) || part.beside || part.share < kWorth || part.share >= 1) continue;
    out.push_back(cat("Without ", named->second, " a step would take ",
                      format_duration(Duration::seconds(whole - part.seconds_per_step)), ", ",
                      format_short(1 / (1 - part.share), 2), " times as fast."));
  }
  return out;
}

Time stepped_at(const State& state, int64_t step) {
  const Time at = done_at(state, step);
  return at.known() ? at : state.reached_at(step);
}

namespace {

/// " by the few lines that have a clock" where most of what was measured has none, " watched" where no line has one: a
/// watch has a clock of its own.
std::string few_clocks(const State& state) {
  const bool dated_lines = std::any_of(state.sources.begin(), state.sources.end(), [](const SourceState& source) {
    return source.kind != kHostKind && source.clock.before(UINT64_MAX).known();
  });
  if (!dated_lines && !state.ticks.empty()) return " watched";
  if (!dated_lines || !state.ticks.empty() || !state.supervision.attempts.empty()) return "";
  size_t dated = 0, all = 0;
  for (const Series& series : state.series) {
    all += series.points().size();
    dated += static_cast<size_t>(std::count_if(series.points().begin(), series.points().end(),
                                               [](const Point& point) { return point.at.known(); }));
  }
  return 2 * dated >= all ? "" : " by the few lines that have a clock";
}

/// "the log names no zone": what the clocks behind these times do not name. Such a zone is read as UTC, such a date is
/// that of the file. "": they name both.
std::string clock_lacks(const State& state) {
  size_t timed = 0, lacking = 0;
  event::ClockLacks all;
  std::string_view which;
  const auto best = best_dated(state);
  for (const SourceState& source : state.sources) {
    if (!best.empty() && std::find(best.begin(), best.end(), &source) == best.end()) continue;
    const event::ClockLacks& lacks = source.clock_lacks;
    timed += source.clock.before(UINT64_MAX).known() ? 1 : 0;
    if (!lacks.zone && !lacks.date) continue;
    ++lacking;
    all = {all.zone || lacks.zone, all.date || lacks.date};
    which = basename(source.path);
  }
  if (lacking == 0) return "";
  const std::string_view who = timed <= lacking ? "the log" : lacking == 1 ? which : "a log of them";
  return cat(who, " names no ", all.date ? "date" : "", all.date && all.zone ? " and no " : "", all.zone ? "zone" : "");
}

/// Behind what the clocks lack: that one was set back, and what that makes of these times.
std::string set_back(const State& state) {
  for (const SourceState& source : state.sources) {
    const Duration by = source.straight.set_back();
    if (by.ns <= 0) continue;
    return cat(clock_lacks(state).empty() ? "" : "; ", "the clock was set back by ", format_duration(by), " at ",
               basename(source.path), ":", source.straight.first(), ", and these times go on");
  }
  return "";
}

}  // namespace

std::string_view zone_of_times(const State& state) {
  const bool unknown = std::any_of(state.sources.begin(), state.sources.end(),
                                   [](const SourceState& source) { return source.clock_lacks.zone; });
  return unknown ? "" : " (UTC)";
}

namespace {

/// Had most of the work been done, as the bar shows, before the first line that has a clock?
bool clocked_at_the_end(const State& state, double by_bar) {
  if (state.attempts.empty() || state.attempts.back().bar.empty()) return false;
  const auto& marks = state.attempts.back().bar;
  const uint32_t number = marks.back().where.source;
  if (number >= state.sources.size() || !state.sources[number].clock.before(UINT64_MAX).known()) return false;
  const LineClock& clock = state.sources[number].clock;
  return std::any_of(marks.begin(), marks.end(), [&](const AttemptState::BarMark& mark) {
    return mark.where.source == number && mark.elapsed > by_bar / 2 && !clock.before(mark.where.line).known();
  });
}

}  // namespace

std::string time_span(const State& state) {
  const Time since = written_since(state), until = written_until(state);
  const std::string first = when(since), last = when(until);
  const std::string lacks = cat(clock_lacks(state), set_back(state));
  const double by_bar = seconds_by_bars(state);
  const bool several = by_bar > seconds_by_bar(state);
  const std::string bar =
      cat(format_duration(Duration::seconds(by_bar)), several ? " by its progress bars" : " by its progress bar");
  if (first.empty()) return by_bar > 0 ? bar : "";
  if (by_bar > (until - since).seconds() && clocked_at_the_end(state, seconds_by_bar(state))) {
    return cat("until ", last, ", ", bar, lacks.empty() ? "" : cat(" (", lacks, ")"));
  }
  if (by_bar > (until - since).seconds()) {  // few lines have a clock, and none near the end
    return cat("from ", first, " on, ", bar, lacks.empty() ? "" : cat(" (", lacks, ")"));
  }
  if (first == last || until < since) return lacks.empty() ? first : cat(first, " (", lacks, ")");
  return cat(first, " to ", last, " (", format_duration(until - since), few_clocks(state), lacks.empty() ? "" : "; ",
             lacks, ")");
}

std::string describe(const State& state, Where where) {
  if (where.source >= state.sources.size()) return "";
  const std::string name(basename(state.sources[where.source].path));
  return where.line == 0 ? name : cat(name, ":", where.line);
}

std::string describe(const State& state, const Moment& moment) {
  std::string text;
  const auto add = [&text](const std::string& piece) {
    text += piece.empty() ? "" : (text.empty() ? "" : ", ") + piece;
  };
  if (moment.step != kNoStep) add(cat("step ", moment.step));
  if (moment.at.known()) add(when(moment.at));
  if (moment.where.line != 0) add(describe(state, moment.where));
  return text.empty() ? "an unknown moment" : text;
}

}  // namespace mw
