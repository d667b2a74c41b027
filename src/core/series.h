// One signal over the steps of a run: bounded, in the order of arrival, with running sums.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/event.h"

namespace mw {

struct Point {
  int64_t step = 0;
  double value = 0;
  Time at;
  Where where;
  uint16_t attempt = 0;
  uint16_t stands_for = 1;  ///< points that were dropped for want of room, and this one; at most 65535
};

/// What one source says under one name. A run's answer for a signal, put together from all its sources, is
/// State::find(). At most `kPointLimit` points are kept. Beyond that every second point of the older half is dropped,
/// so that memory is bounded and the newer half keeps its resolution; the sums below still count every point that ever
/// came, but for those that a new value of their step replaced.
class Series {
 public:
  static constexpr size_t kPointLimit = 16384;

  std::string signal;   ///< canonical name, "" when no dialect maps it
  std::string raw;      ///< the trainer's own name
  uint32_t source = 0;  ///< who says it (Where::source); of a merged series the source with the most points
  uint64_t key = 0;     ///< key_of() source and names; 0 of a series that no index finds

  /// By what a state finds the series of a figure, as every figure of every record asks for one.
  static uint64_t key_of(uint32_t said_by, const FigureName& name) {
    const uint64_t mixed = (name.hash ^ (static_cast<uint64_t>(said_by) + 1)) * 0x9e3779b97f4a7c15ULL;
    return mixed ^ mixed >> 32;
  }

  /// Appends; a point with the step and attempt of the last one replaces it, unless it is a sample of the machine, of
  /// which many come within a step (of_machine()). `limit` may be lower than kPointLimit where there are many series.
  void add(const Point& point, size_t limit = kPointLimit);
  /// What was thought to be attempt `from` belongs to attempt `to`.
  void move_attempt(uint16_t from, uint16_t to);
  /// The same for the points that `moves` names. Returns the lowest and the highest step of them.
  std::pair<int64_t, int64_t> move_attempt_where(uint16_t from, uint16_t to,
                                                 const std::function<bool(const Point&)>& moves);

  const std::vector<Point>& points() const { return points_; }
  /// Points in a row of one attempt and one place: the index by which a point is found without a walk over all.
  struct Part {
    size_t begin = 0, end = 0;
    uint16_t attempt = 0;
    uint32_t source = 0;      ///< Where::source
    int64_t least = kNoStep;  ///< lowest and highest step of those that have one
    int64_t most = kNoStep;
    bool in_order = true;  ///< no step is lower than the one before it
  };
  const std::vector<Part>& parts() const { return parts_; }
  /// How often points that were there already were dropped or changed, but for the last one, which a new value of its
  /// step replaces. While this stands, what was made of the points before the last holds.
  uint64_t rewritten() const { return rewritten_; }
  /// A merged series is made anew each time: says what has become of the points that `before` had.
  void goes_on_from(const Series& before);
  bool empty() const { return points_.empty(); }
  uint64_t count() const { return count_; }  ///< of all points that came, replaced ones, NaN and Inf included
  double first() const { return first_; }
  double last() const { return last_; }
  double min() const { return sums_.min; }  ///< of the finite values; NaN when there is none
  double max() const { return sums_.max; }
  double mean() const;
  uint64_t non_finite() const { return non_finite_; }

 private:
  void count_in(double value);
  void index(size_t at);
  void index_all();

  std::vector<Point> points_;
  std::vector<Part> parts_;
  uint64_t rewritten_ = 0;
  uint64_t count_ = 0, non_finite_ = 0;
  double first_ = 0, last_ = 0;
  struct Sums {  // of the finite values
    uint64_t finite = 0;
    double min = std::numeric_limits<double>::quiet_NaN(), max = min, sum = 0;
  };
  Sums sums_, before_last_;  // a new value of the last point's step takes its place
};

}  // namespace mw
