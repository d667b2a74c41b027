// What the detectors of learning dynamics share: tracks (the finite points of one series over one uninterrupted stretch
// of steps), rises that last, relations between signals, and findings with figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/detect/detector.h"
#include "core/detect/tools/sorted_window.h"
#include "core/incident.h"
#include "core/series.h"
#include "core/state.h"

namespace mw::detect {

/// The finite points of one signal in step order, over one stretch of the run. `values[i]` is `points[i].value`.
struct Track {
  const Series* series = nullptr;
  std::vector<Point> points;
  std::vector<double> values;

  size_t size() const { return points.size(); }
  std::span<const double> slice(size_t from, size_t to) const { return std::span(values).subspan(from, to - from); }
};

/// Puts a point into a track, in step order: after a resume that goes back by a little, the new attempt's points
/// replace the old ones; within one attempt a record that comes late (buffered output, several writers) goes where it
/// belongs. The lowest index that is another point now.
size_t put_in_order(Track& track, const Point& point);

/// The point as a track takes it: nothing where its value or its step is none. A trainer that names no steps has its
/// records counted, `last` being the point before.
std::optional<Point> as_taken(const Point& point, const Point* last);

/// Does the step counter start over with `next`, so that it begins another track?
bool starts_over(const Track& track, const Point& next);

/// Points of `track` up to `step`.
size_t points_until(const Track& track, int64_t step);

/// Cuts a series where the step counter starts over (a new run in the same file, a restart from scratch). A resume that
/// goes back by a little stays in one track. Empty for nullptr.
std::vector<Track> tracks_of(const Series* series);

/// The reward that the run optimises, as it shows it: reward.mean, else reward.pass_rate, else return.mean, else the
/// only component.
const Series* reward_series(const State& state);

/// Bounds of the reward so far, up to and including index `end` of `track`: its floor is 0 or the smallest value seen,
/// its ceiling the largest seen, or 1 when all lies within 0..1.
struct RewardScale {
  double floor = 0, ceiling = 1;
  double share(double value) const { return ceiling > floor ? (value - floor) / (ceiling - floor) : 0; }
};
RewardScale reward_scale(const State& state, const Track& track, size_t end);
/// The same where the lowest and the highest value up to `end` are known.
RewardScale reward_scale(const State& state, const Track& track, size_t end, double lowest, double highest);

/// Steps in a row on which the reward lies on its floor: on 0 while it was never below, else on the lowest value seen.
/// A new lowest value is a first step only: it is a floor once the next step lies on it, too.
class FloorStreak {
 public:
  void see(double value);
  /// Now.
  size_t steps() const { return steps_; }
  /// The most steps in a row on this floor before: a sparse reward lies on it now and then.
  size_t longest_before() const { return longest_before_; }
  /// Some value lay above the floor.
  bool left() const { return left_; }
  bool at_zero() const { return lowest_ == 0; }

 private:
  double lowest_ = 0;
  size_t steps_ = 0, longest_before_ = 0;
  bool left_ = false, seen_ = false;
};

/// Whether nothing is left to learn: `level` lies above the share `most` of the reward's range. The best value seen is
/// the ceiling only where the run shows single samples; else the next round number above it is taken for one.
bool solved(const State& state, const RewardScale& scale, double level, double most);

/// A lasting rise of a signal above its own level. Whatever the rule says, the points must also lie above nearly all
/// (`novel`) of the last kRecent points that no earlier rise covers: a swing that the signal has shown before is no
/// news.
constexpr size_t kRecent = 200;
/// A track that rises and falls more often than this is noise; only the first rises are reported.
constexpr size_t kRisesReported = 4;
struct RiseRule {
  size_t history;           ///< points before a rise can begin
  size_t width;             ///< points of the baseline's rolling median
  double factor;            ///< times the baseline ...
  double delta;             ///< ... and at least this much above it
  size_t persist;           ///< points in a row
  size_t skip = 0;          ///< points at the start that no baseline includes (warm-up, compilation)
  bool from_lowest = true;  ///< baseline: the lowest rolling median so far; false: the one right before the rise
  double novel = 0.99;      ///< quantile of the recent points that the rise must exceed
};
struct Rise {
  size_t onset = 0;             ///< where it left the level right before its threshold
  size_t left = 0;              ///< of rises(): where it began to leave `base`, by degrees perhaps long before
  size_t first = 0;             ///< first point over the threshold
  size_t detected = 0;          ///< point at which it had lasted long enough
  double base = 0;              ///< the level before
  size_t base_at = 0;           ///< last point of the window that showed it
  double peak = 0;              ///< median of the points over the threshold up to `detected`
  std::optional<size_t> ended;  ///< point at which it had gone away again for `persist` points
};
std::vector<Rise> rises(const Track& track, const RiseRule& rule);

/// What a rule looks at: the values as they are, 1/value (a fall is a rise of it), their size, or that of their
/// logarithm.
enum class Shape { kPlain, kReciprocal, kSize, kLogSize, kShortOfOne };
double shaped(double value, Shape shape);

/// rises(), point by point: after step(track, i) for every i below n, `found` is what the first n points show.
class RiseWalk {
 public:
  explicit RiseWalk(const RiseRule& rule, Shape shape = Shape::kPlain)
      : rule_(rule), shape_(shape), window_(rule.width) {}
  void step(const Track& track, size_t i);
  const std::vector<Rise>& found() const { return found_; }

 private:
  double value(const Track& track, size_t i) const { return shaped(track.values[i], shape_); }
  double median_at(const Track& track, size_t i) const;
  double median_before(const Track& track, size_t i);
  double shown_before(const Track& track, size_t end) const;
  size_t onset_of(const Track& track, size_t first) const;
  size_t left_at(const Track& track, size_t onset) const;
  void wait_for_end(const Track& track, size_t i);
  void add_rise(const Track& track, size_t i);

  RiseRule rule_;
  Shape shape_;
  SortedWindow window_;    ///< of the rolling median
  size_t window_end_ = 0;  ///< index behind its newest value
  size_t lowest_ = 0;      ///< index of the lowest rolling median so far
  double lowest_median_ = 0;
  size_t base_at_ = 0;
  double base_ = 0, limit_ = 0;  ///< of the rise that would begin here
  size_t streak_ = 0;
  bool open_ = false;  ///< the last rise has not ended
  size_t low_ = 0;     ///< points in a row that would end it
  std::vector<Rise> found_;
};

/// A rise out of the first points of a run, before there are enough of them for a RiseRule.
struct EarlyRule {
  size_t few;     ///< points that are the level, and that lie above it in a row
  double factor;  ///< times the largest of the level ...
  double least;   ///< ... and above this
  size_t until;   ///< it shows among so many first points
  Shape shape = Shape::kPlain;
};
/// The first one; nullopt where there is none, or the level lies at zero or below.
std::optional<Rise> early_rise(const Track& track, const EarlyRule& rule);

/// rises() of a lasting fall of a positive signal: below 1/factor of the level (and `delta` below it).
std::vector<Rise> falls(const Track& track, const RiseRule& rule);
/// The rule and the rises of the reciprocal that it has, as falls() makes them from each other.
RiseRule rule_of_falls(const RiseRule& rule);
std::vector<Rise> falls_of(const std::vector<Rise>& reciprocal, const RiseRule& rule);

/// Median of `signal` before `onset` (the last `width` points with a smaller step) and from there to `now`.
struct Shift {
  double before = 0, after = 0;
  double relative() const;  ///< (after-before)/|before|; 0 when before is 0
};
std::optional<Shift> shift_of(const State& state, std::string_view signal, const Point& onset, const Point& now,
                              size_t width = 10);
std::optional<Shift> shift_of(const Series* series, const Point& onset, const Point& now, size_t width = 10);

/// What became of the reward: its level in the last points before a moment, and in the last points up to another. The
/// change is measured against what the reward had to lose: its distance from its floor (0, or the lowest value seen
/// before), at least its own size; so it means the same for rewards of 0..1, -1..1, and scores without bounds.
struct Outcome {
  double before = 0, after = 0;
  double range = 0;  ///< what there was to lose
  double error = 0;  ///< standard error of the difference
  double share() const { return range > 0 ? (after - before) / range : 0; }
  bool fell(double by) const { return share() < -by && before - after > kStandsOut * error; }
  bool rose(double by) const { return share() > by && after - before > kStandsOut * error; }
  static constexpr double kStandsOut = 2;  ///< standard errors; about one chance in fifty to either side
};
std::optional<Outcome> outcome_of(const Series* reward, const Point& onset, const Point& now, size_t width = 10);
std::optional<Outcome> outcome_of(const State& state, const Point& onset, const Point& now, size_t width = 10);

/// A change of another signal does its harm with some delay: the first index of `track`, from `rise.detected` on and
/// not beyond the rise's end, at which the reward had fallen by the share `by` since the rise began. Looks no further
/// ahead than kHarmPoints and three times the length of the rise so far.
constexpr size_t kHarmPoints = 30;
std::optional<size_t> harmed_at(const State& state, const Track& track, const Rise& rise, double by);

/// Median of `signal` over steps from..to (inclusive) of one attempt, nullopt when it shows none there.
std::optional<double> level_between(const Series* series, uint16_t attempt, int64_t from, int64_t to);

/// The last value of `series` at or before the step of `at`.
std::optional<double> value_at(const Series* series, const Point& at);

/// value_at() for one moment after the other, each from where the last one was.
class ValueCursor {
 public:
  explicit ValueCursor(const Series* series) : series_(series) {}
  std::optional<double> at(const Point& point);

 private:
  const Series* series_;
  size_t next_ = 0;
  Point last_;
  std::optional<double> found_;
};

/// The finite values of one attempt at steps from..to, the last `most` of them, in order.
std::vector<double> last_values(const Series& series, uint16_t attempt, int64_t from, int64_t to, size_t most);

/// The algorithm as the run says, in lower case ("grpo", "gspo", "ppo", "sft", ...); "" when it does not.
std::string algorithm_of(const State& state);

/// True when the run distils a teacher (it says so, or logs something of a teacher): a reward beside that may be zero
/// by construction.
bool follows_teacher(const State& state);

/// True when the run optimises a reward (it shows one).
bool has_reward(const State& state);

/// True when the run shows how far the rewards, or the advantages, of a group lie apart.
bool says_spread(const State& state);

Moment moment_of(const Point& point);
Finding make_finding(std::string_view detector, std::string_view kind, Severity severity, const Point& onset,
                     const Point& detected, std::string summary);
void add_figure(Finding& finding, std::string_view signal, int64_t step, double value);
void add_figure(Finding& finding, const Track& track, size_t index);
/// Figures of the points from..to (inclusive), at most `limit`, first and last included.
void add_figures(Finding& finding, const Track& track, size_t from, size_t to, size_t limit = 6);
void resolve(Finding& finding, const Point& at);

/// A knob's value as a number of points.
constexpr size_t points_of(const Knob& knob) { return static_cast<size_t>(knob.value); }

}  // namespace mw::detect
