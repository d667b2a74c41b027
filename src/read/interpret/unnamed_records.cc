#include "read/interpret/unnamed_records.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

bool is_finite(const event::Measured& measured) {
  return std::all_of(measured.readings.begin(), measured.readings.end(),
                     [](const Reading& reading) { return std::isfinite(reading.value); });
}

}  // namespace

bool UnnamedRecords::take(Event& event, uint64_t kind, std::vector<Event>& out) {
  if (named_) return false;
  if (counts_) {
    if (kind != counted_kind_) return false;
    auto& measured = std::get<event::Measured>(event.body);
    measured.step = ++count_;
    measured.counted = true;
    out.push_back(std::move(event));
    return true;
  }
  if (!broken_kind_ && !is_finite(std::get<event::Measured>(event.body))) broken_kind_ = kind;
  held_.push_back({kind, std::move(event)});
  ++kinds_[kind];
  if (held_.size() >= kHeld || (broken_kind_ && kinds_[*broken_kind_] >= kLeast)) count_all(out);
  return true;
}

void UnnamedRecords::step_named(std::vector<Event>& out) {
  if (named_) return;
  named_ = true;
  for (Held& one : held_) out.push_back(std::move(one.event));
  held_ = {};
}

void UnnamedRecords::finish(std::vector<Event>& out) {
  if (!named_ && !counts_) count_all(out);
}

/// Those of the kind that most are of; others stand where the last of it does.
void UnnamedRecords::count_all(std::vector<Event>& out) {
  const auto most =
      std::max_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool series = most != kinds_.end() && most->second >= kLeast;
  counts_ = true;
  counted_kind_ = series ? most->first : 0;
  for (Held& one : held_) {
    auto& measured = std::get<event::Measured>(one.event.body);
    if (series && one.kind == counted_kind_) ++count_;
    if (series && count_ > 0) {
      measured.step = count_;
      measured.counted = true;
    }
    out.push_back(std::move(one.event));
  }
  held_ = {};
}

}  // namespace mw
