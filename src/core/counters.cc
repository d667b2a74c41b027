#include "core/counters.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr double kPasses = 3;  // times the patience; by then what begins anew again and again shows no work

}  // namespace

void add_counter(State& state, const std::string& what, int64_t done, int64_t total, Time at, uint16_t attempt) {
  if (!at.known() || total <= 1 || done < 0 || done > total) return;
  auto found = state.counters.find(what);
  if (found == state.counters.end()) {
    if (state.counters.size() >= State::kNameLimit) return;
    found = state.counters.emplace(what, Counter{done, total, at, at, attempt}).first;
    return;
  }
  Counter& counter = found->second;
  if (counter.done == done && counter.total == total && counter.attempt == attempt) return;
  if (done < counter.done || total != counter.total || attempt != counter.attempt) counter.began = at;
  counter.done = done;
  counter.total = total;
  counter.attempt = attempt;
  counter.moved = std::max(counter.moved, at);
}

Time last_counted(const State& state, uint16_t attempt, Time since, double patience) {
  const Time first = since + Duration::seconds(patience), last = since + Duration::seconds(kPasses * patience);
  Time moved;
  for (const auto& [what, counter] : state.counters) {
    if (counter.attempt != attempt || counter.moved <= since) continue;
    const bool one_pass = counter.began <= first;
    if (one_pass || counter.moved <= last) moved = std::max(moved, counter.moved);
  }
  return moved;
}

const std::pair<const std::string, Counter>* open_counter(const State& state, uint16_t attempt, Time since) {
  const std::pair<const std::string, Counter>* open = nullptr;
  for (const auto& named : state.counters) {
    const Counter& counter = named.second;
    if (counter.attempt != attempt || counter.moved <= since || counter.done >= counter.total) continue;
    if (open == nullptr || counter.moved > open->second.moved) open = &named;
  }
  return open;
}

}  // namespace mw
