#include "core/fold_figures.h"

#include <algorithm>

#include "base/text.h"
#include "core/bounded.h"
#include "core/fetch_ahead.h"
#include "core/signal.h"
#include "core/trajectory.h"

namespace mw {
namespace {

/// Points that a series may keep however many others there are.
constexpr size_t kPointShareLeast = 256;

/// `near`: place of the series that the figure before this one went to. Mostly the next one is meant, as figures come
/// in the order in which they came first.
Series* series_of(State& state, bool eval, uint32_t source, const Reading& reading, size_t near) {
  std::vector<Series>& all = eval ? state.eval : state.series;
  const uint64_t key = Series::key_of(source, *reading.name());
  if (near + 1 < all.size() && all[near + 1].key == key) return &all[near + 1];
  auto& index = eval ? state.eval_index : state.series_index;
  const auto [place, fresh] = index.try_emplace(key, static_cast<uint32_t>(all.size()));
  if (!fresh) return place->second < all.size() ? &all[place->second] : nullptr;
  if (all.size() >= State::kSeriesLimit) {
    index.erase(place);
    return nullptr;
  }
  Series& series = all.emplace_back();
  series.signal = clip(reading.signal(), 200);
  series.raw = clip(reading.raw(), 200);
  series.source = source;
  series.key = key;
  return &series;
}

}  // namespace

void add_figures(State& state, const Event& event, const event::Measured& measured, int64_t step, uint16_t attempt) {
  size_t near = 0;
  for (const Reading& reading : measured.readings) {
    const bool eval = measured.eval || reading.signal().starts_with("eval.");
    Series* series = series_of(state, eval, event.where.source, reading, near);
    if (series == nullptr) {
      ++state.series_dropped;
      continue;
    }
    const size_t share = State::kPointLimit / (state.series.size() + state.eval.size());
    const size_t limit = std::clamp<size_t>(share, kPointShareLeast, Series::kPointLimit);
    near = fetch_ahead(eval ? state.eval : state.series, series);
    const bool by_batch =
        measured.step == kNoStep && (reading.signal() == kListedRewards || of_trajectory(reading.raw()));
    series->add({by_batch ? kNoStep : step, reading.value, event.at, event.where, attempt}, limit);
  }
}

}  // namespace mw
