#include "read/lines/date_order.h"

namespace mw {
namespace {

constexpr int64_t kHour = 3600LL * 1'000'000'000, kDay = 24 * kHour;
constexpr int64_t kNear = 12 * kHour, kFar = 20 * kDay;

int64_t apart(Time a, Time b) { return a.ns > b.ns ? a.ns - b.ns : b.ns - a.ns; }

}  // namespace

Time DateOrder::moment(const Stamp& stamp, bool conventional) {
  using Order = Stamp::Order;
  if (stamp.order == Order::kNone) return stamp.at;
  if (stamp.order != Order::kEither) {
    order_ = stamp.order;
    return stamp.at;
  }
  met_ = true;
  heed_last(stamp);
  Order order = order_ != Order::kNone ? order_ : conventional ? Order::kMonthFirst : by_change(stamp);
  if (order == Order::kNone && stamp.short_year) order = Order::kMonthFirst;
  return order == Order::kDayFirst ? stamp.day_first : order == Order::kMonthFirst ? stamp.at : Time{};
}

/// Lines follow each other within hours, and not in the same minute weeks later.
void DateOrder::heed_last(const Stamp& stamp) {
  if (last_month_first_.known() && order_ == Stamp::Order::kNone) {
    const int64_t month_first = apart(stamp.at, last_month_first_), day_first = apart(stamp.day_first, last_day_first_);
    if (day_first <= kNear && month_first >= kFar) order_ = Stamp::Order::kDayFirst;
    if (month_first <= kNear && day_first >= kFar) order_ = Stamp::Order::kMonthFirst;
  }
  last_month_first_ = stamp.at;
  last_day_first_ = stamp.day_first;
}

/// No line is younger than its file, and the file of a run is mostly read as it was left.
Stamp::Order DateOrder::by_change(const Stamp& stamp) const {
  constexpr int64_t kZones = 2 * kDay, kRecent = 5 * kDay;
  if (!changed_.known()) return Stamp::Order::kNone;
  const auto before = [this](Time at) { return at.ns <= changed_.ns + kZones; };
  const auto recent = [this, before](Time at) { return before(at) && apart(at, changed_) <= kRecent; };
  if (before(stamp.at) != before(stamp.day_first))
    return before(stamp.at) ? Stamp::Order::kMonthFirst : Stamp::Order::kDayFirst;
  if (recent(stamp.at) == recent(stamp.day_first)) return Stamp::Order::kNone;
  return recent(stamp.at) ? Stamp::Order::kMonthFirst : Stamp::Order::kDayFirst;
}

}  // namespace mw
