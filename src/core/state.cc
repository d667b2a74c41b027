#include "core/state.h"

#include <algorithm>
#include <limits>

namespace mw {

// ---- Ranges
// ----------------------------------------------------------------------------------------------------------

void Ranges::add(int64_t value) {
  if (!ranges_.empty()) {  // nearly always the next step
    auto& last = ranges_.back();
    if (last.second != std::numeric_limits<int64_t>::max() && value == last.second + 1) {
      last.second = value;
      return;
    }
    if (last.first <= value && value <= last.second) return;
  }
  add_range(value, value);
}

void Ranges::add(const Ranges& other) {
  for (const auto& [first, last] : other.ranges_) add_range(first, last);
}

void Ranges::add_range(int64_t first, int64_t last) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  const int64_t reach_down = first == kMin ? first : first - 1, reach_up = last == kMax ? last : last + 1;
  auto begin = std::lower_bound(ranges_.begin(), ranges_.end(), reach_down,
                                [](const auto& range, int64_t value) { return range.second < value; });
  auto end = begin;
  while (end != ranges_.end() && end->first <= reach_up) {
    first = std::min(first, end->first);
    last = std::max(last, end->second);
    ++end;
  }
  begin = ranges_.erase(begin, end);
  ranges_.insert(begin, {first, last});
  if (ranges_.size() <= kRangeLimit) return;
  size_t nearest = 1;
  auto gap = [this](size_t i) {
    return static_cast<uint64_t>(ranges_[i].first) - static_cast<uint64_t>(ranges_[i - 1].second);
  };
  for (size_t i = 2; i < ranges_.size(); ++i) {
    if (gap(i) < gap(nearest)) nearest = i;
  }
  ranges_[nearest - 1].second = ranges_[nearest].second;
  ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(nearest));
}

int64_t Ranges::count() const {
  uint64_t sum = 0;
  for (const auto& [first, last] : ranges_) sum += static_cast<uint64_t>(last) - static_cast<uint64_t>(first) + 1;
  return static_cast<int64_t>(std::min<uint64_t>(sum, std::numeric_limits<int64_t>::max()));
}

bool Ranges::holds(int64_t value) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [value](const auto& range) { return range.first <= value && value <= range.second; });
}

// ---- one signal from many sources
// ------------------------------------------------------------------------------------

namespace {

struct Part {
  const Series* series;
  size_t begin, end;  // its points of one attempt
};

/// The points of attempt `number`; the parts of a series are contiguous, except where a source went to and fro.
void append_attempt(const std::vector<const Series*>& tellers, uint16_t number, Series& out) {
  std::vector<std::vector<Point>> told;
  for (const Series* series : tellers) {
    std::vector<Point> points;
    for (const Point& point : series->points()) {
      if (point.attempt == number) points.push_back(point);
    }
    if (!points.empty()) told.push_back(std::move(points));
  }
  std::stable_sort(told.begin(), told.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Point> before, after;
  if (told.empty()) return;
  int64_t first = told.front().front().step, last = told.front().back().step;
  for (size_t i = 1; i < told.size(); ++i) {
    std::vector<Point> early;
    int64_t low = first, high = last;
    for (const Point& point : told[i]) {
      if (point.step == kNoStep) continue;
      if (point.step < first) early.push_back(point);
      if (point.step > last) after.push_back(point);
      low = std::min(low, point.step);
      high = std::max(high, point.step);
    }
    before.insert(before.begin(), early.begin(), early.end());
    first = low;
    last = high;
  }
  for (const Point& point : before) out.add(point);
  for (const Point& point : told.front()) out.add(point);
  for (const Point& point : after) out.add(point);
}

Series merge(std::vector<const Series*> tellers, size_t attempts) {
  std::stable_sort(tellers.begin(), tellers.end(), [](const Series* a, const Series* b) {
    return a->count() != b->count() ? a->count() > b->count() : a->source < b->source;
  });
  Series out;
  out.signal = tellers.front()->signal;
  out.raw = tellers.front()->raw;
  out.source = tellers.front()->source;
  for (size_t i = 0; i < std::max<size_t>(attempts, 1); ++i) append_attempt(tellers, static_cast<uint16_t>(i), out);
  return out;
}

/// The first letter keeps canonical and raw names, training and evaluation apart in the cache.
const Series* answer(const State& state, const std::vector<Series>& all, std::string_view name, bool raw, bool eval) {
  std::vector<const Series*> tellers;
  for (const Series& series : all) {
    if ((raw ? series.raw : series.signal) == name) tellers.push_back(&series);
  }
  if (tellers.empty()) return nullptr;
  if (tellers.size() == 1) return tellers.front();
  std::string key(1, raw ? (eval ? 'R' : 'r') : (eval ? 'S' : 's'));
  key += name;
  std::vector<State::Merged::Teller> now;
  for (const Series* one : tellers) {
    now.push_back({static_cast<size_t>(one - all.data()), one->count(), one->rewritten()});
  }
  State::Merged& merged = state.merged[key];
  if (merged.attempts == state.attempts.size() && merged.tellers == now) return &merged.series;
  Series fresh = merge(std::move(tellers), state.attempts.size());
  fresh.goes_on_from(merged.series);
  merged = {std::move(now), state.attempts.size(), std::move(fresh)};
  return &merged.series;
}

}  // namespace

const Series* State::find(std::string_view signal) const {
  if (signal.empty()) return nullptr;
  if (const Series* found = answer(*this, series, signal, false, false)) return found;
  return answer(*this, eval, signal, false, true);
}

const Series* State::find_raw(std::string_view raw) const {
  if (raw.empty()) return nullptr;
  if (const Series* found = answer(*this, series, raw, true, false)) return found;
  return answer(*this, eval, raw, true, true);
}

std::vector<const Series*> State::shown(bool evaluations) const {
  const std::vector<Series>& all = evaluations ? eval : series;
  std::vector<const Series*> out;
  std::map<std::string_view, bool> canonical, raw_only;
  for (const Series& one : all) {
    const bool raw = one.signal.empty();
    const std::string_view name = raw ? one.raw : one.signal;
    if (!(raw ? raw_only : canonical).emplace(name, true).second) continue;
    if (!raw) {
      out.push_back(answer(*this, all, name, false, evaluations));
      continue;
    }
    const Series* found = answer(*this, all, name, true, evaluations);
    if (found->signal.empty()) out.push_back(found);
  }
  return out;
}

const SignatureState* State::signature(std::string_view id) const {
  const auto found =
      std::find_if(signatures.begin(), signatures.end(), [id](const SignatureState& known) { return known.id == id; });
  return found == signatures.end() ? nullptr : &*found;
}

int64_t State::step_at(Time at) const {
  const auto after = std::upper_bound(anchors.begin(), anchors.end(), at,
                                      [](Time value, const auto& anchor) { return value < anchor.first; });
  return after == anchors.begin() ? kNoStep : std::prev(after)->second;
}

State::Span State::steps() const {
  const SourceState* most = nullptr;
  for (const SourceState& source : sources) {
    if (!source.steps.empty() && (most == nullptr || source.steps.count() > most->steps.count())) most = &source;
  }
  if (most == nullptr) return {};
  Ranges all;
  for (const SourceState& source : sources) all.add(source.steps);
  return {all.first(), all.last(), all.count()};
}

}  // namespace mw
