#include "core/host_figures.h"

#include <algorithm>

#include "base/text.h"

namespace mw {

void add_host_figures(State& state, const Event& event, const event::Measured& measured, uint16_t attempt) {
  for (const Reading& reading : measured.readings) {
    auto known = std::find_if(state.host.begin(), state.host.end(), [&](const Series& series) {
      return series.source == event.where.source && series.signal == reading.signal && series.raw == reading.raw;
    });
    if (known == state.host.end()) {
      if (state.host.size() >= State::kHostSeriesLimit) {
        ++state.series_dropped;
        continue;
      }
      Series series;
      series.signal = clip(reading.signal, 200);
      series.raw = clip(reading.raw, 200);
      series.source = event.where.source;
      known = state.host.insert(state.host.end(), std::move(series));
    }
    known->add({measured.step, reading.value, event.at, event.where, attempt}, State::kHostPointLimit);
  }
}

void add_checkpoint_scan(State& state, const Event& event, const event::CheckpointSeen& seen, uint16_t attempt) {
  auto& scans = state.checkpoint_scans;
  if (scans.size() >= State::kCheckpointLimit) scans.erase(scans.begin() + State::kCheckpointLimit / 2);
  scans.emplace_back(Moment{seen.step, event.at, event.where, attempt, false}, seen);
  scans.back().second.path = clip(seen.path, kTextLimit);
  scans.back().second.what = clip(seen.what, kTextLimit);
}

}  // namespace mw
