#include "core/state.h"

#include <algorithm>
#include <limits>

namespace mw {

State::State() = default;
State::State(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(const State&) = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;

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

/// The points of attempt `number`; the parts of a series are contiguous, except where a source went to and fro. True
/// when they are those of one source.
bool append_attempt(const std::vector<const Series*>& members, uint16_t number, Series& out) {
  std::vector<std::vector<Point>> pieces;
  for (const Series* series : members) {
    std::vector<Point> points;
    for (const Point& point : series->points()) {
      if (point.attempt == number) points.push_back(point);
    }
    if (!points.empty()) pieces.push_back(std::move(points));
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Point> before, after;
  if (pieces.empty()) return false;
  int64_t first = pieces.front().front().step, last = pieces.front().back().step;
  for (size_t i = 1; i < pieces.size(); ++i) {
    std::vector<Point> early;
    int64_t low = first, high = last;
    for (const Point& point : pieces[i]) {
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
  for (const Point& point : pieces.front()) out.add(point);
  for (const Point& point : after) out.add(point);
  return before.empty() && after.empty();
}

using MemberSeries = std::vector<const Series*>;

size_t points_in(const Series& series, size_t attempt) {
  size_t sum = 0;
  for (const Series::Part& part : series.parts()) sum += part.attempt == attempt ? part.end - part.begin : 0;
  return sum;
}

/// Who has most points of the last attempt.
const Series* owner_of(const MemberSeries& ordered, size_t attempts) {
  const Series* owner = ordered.front();
  size_t most = 0;
  for (const Series* one : ordered) {
    const size_t points = attempts == 0 ? 0 : points_in(*one, attempts - 1);
    if (points <= most) continue;
    most = points;
    owner = one;
  }
  return owner;
}

void merge(const MemberSeries& ordered, size_t attempts, State::Merged& merged) {
  Series out;
  out.signal = ordered.front()->signal;
  out.raw = ordered.front()->raw;
  out.source = ordered.front()->source;
  for (size_t i = 0; i < std::max<size_t>(attempts, 1); ++i) {
    merged.grows = append_attempt(ordered, static_cast<uint16_t>(i), out);
  }
  out.goes_on_from(merged.series);
  merged.series = std::move(out);
}

/// Were only points added since `merged` was made, by its owner or where the owner has spoken, in the last attempt?
/// Then the owner's are added to it.
bool go_on(const MemberSeries& members, const Series& owner, const std::vector<State::Merged::Member>& now,
           size_t attempts, State::Merged& merged) {
  if (!merged.grows || attempts == 0 || merged.attempts != attempts || merged.members.size() != now.size())
    return false;
  size_t owned = 0;  // points of the owner that are in it
  for (size_t k = 0; k < now.size(); ++k) {
    const State::Merged::Member& was = merged.members[k];
    const bool added = was.index == now[k].index && was.rewritten == now[k].rewritten && was.points <= now[k].points &&
                       now[k].count - was.count == now[k].points - was.points;
    if (!added) return false;
    if (members[k] == &owner) owned = was.points;
  }
  const std::vector<Point>& own = owner.points();
  if (owned == 0 || own.back().step < own[owned - 1].step) return false;
  const auto part = std::find_if(owner.parts().begin(), owner.parts().end(),
                                 [&](const Series::Part& one) { return one.attempt + 1U == attempts; });
  if (part == owner.parts().end()) return false;
  const int64_t first = own[part->begin].step;
  for (size_t k = 0; k < now.size(); ++k) {
    for (size_t i = merged.members[k].points; i < now[k].points; ++i) {
      const Point& point = members[k]->points()[i];
      const bool inside = point.step == kNoStep || (point.step >= first && point.step <= own.back().step);
      if (point.attempt + 1U != attempts || (members[k] != &owner && !inside)) return false;
    }
  }
  for (size_t i = owned; i < own.size(); ++i) merged.series.add(own[i]);
  return true;
}

/// Of one name: where two sources log a step one after the other, now the one counts most and now the other.
constexpr size_t kMergedKept = 2;

/// The one that was made in this order, else the one that was not asked for the longest.
State::Merged& kept_for(const State& state, const std::string& key, const std::vector<size_t>& order) {
  State::Merged* oldest = nullptr;
  for (size_t slot = 0; slot < kMergedKept; ++slot) {
    State::Merged& merged = state.merged[key + static_cast<char>('0' + slot)];
    if (merged.order == order) return merged;
    if (oldest == nullptr || merged.used < oldest->used) oldest = &merged;
  }
  oldest->grows = false;
  oldest->members.clear();
  oldest->order = order;
  return *oldest;
}

/// The first letter keeps canonical and raw names, training and evaluation apart in the cache.
const Series* answer(const State& state, const std::vector<Series>& all, std::string_view name, bool raw, bool eval) {
  MemberSeries members;
  for (const Series& series : all) {
    if ((raw ? series.raw : series.signal) == name) members.push_back(&series);
  }
  if (members.empty()) return nullptr;
  if (members.size() == 1) return members.front();
  const size_t attempts = state.attempts.size();
  MemberSeries ordered = members;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Series* a, const Series* b) {
    return a->count() != b->count() ? a->count() > b->count() : a->source < b->source;
  });
  const Series* owner = owner_of(ordered, attempts);
  const auto index_of = [&all](const Series* one) { return static_cast<size_t>(one - all.data()); };
  std::vector<size_t> order;
  for (const Series* one : ordered) order.push_back(index_of(one));
  order.push_back(index_of(owner));
  std::vector<State::Merged::Member> now;
  for (const Series* one : members) {
    now.push_back({index_of(one), one->count(), one->rewritten(), one->points().size()});
  }
  std::string key(1, raw ? (eval ? 'R' : 'r') : (eval ? 'S' : 's'));
  State::Merged& merged = kept_for(state, key.append(name), order);
  merged.used = state.events;
  if (merged.attempts == attempts && merged.members == now) return &merged.series;
  if (!go_on(members, *owner, now, attempts, merged)) merge(ordered, attempts, merged);
  merged.members = std::move(now);
  merged.attempts = attempts;
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

Time State::reached_at(int64_t step) const {
  Time at;
  for (auto tick = ticks.rbegin(); tick != ticks.rend() && tick->step == step; ++tick) at = tick->at;
  return at;
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
  return {all.first(), all.last(), all.count(), only_counts_records()};
}

bool State::only_counts_records() const {
  const auto named = [](const SourceState& source) { return source.names_steps; };
  const auto trained = [](const SourceState& source) { return !source.steps.empty(); };
  return std::none_of(sources.begin(), sources.end(), named) && std::any_of(sources.begin(), sources.end(), trained);
}

}  // namespace mw
