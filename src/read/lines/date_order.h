// Whether "04/03/2026" is the third of April or the fourth of March, as the rest of a log shows.
#pragma once

#include "base/time.h"
#include "read/lines/log_time.h"

namespace mw {

/// One per source. Its dates are in one order: a number above 12 shows which, or two dates in a row that lie hours
/// apart in the one order and weeks in the other. Where none does, custom decides, or the day on which the file was
/// changed last.
class DateOrder {
 public:
  /// When the file was changed last, as the clock on the wall showed it.
  void set_changed(Time changed) { changed_ = changed; }
  /// The moment of a date in either order, as the log shows so far; unknown where it does not. `conventional`: it
  /// stands where by custom the month comes first.
  Time moment(const Stamp& stamp, bool conventional);
  /// What another reader of the same lines found.
  void learn(const DateOrder& other) { order_ = other.order_; }
  /// Whether the log has dates of which the order is not certain yet.
  bool open() const { return met_ && order_ == Stamp::Order::kNone; }

 private:
  void heed_last(const Stamp& stamp);
  Stamp::Order by_change(const Stamp& stamp) const;

  Stamp::Order order_ = Stamp::Order::kNone;
  bool met_ = false;
  Time changed_;
  Time last_month_first_, last_day_first_;
};

}  // namespace mw
