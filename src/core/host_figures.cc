#include "core/host_figures.h"

#include <algorithm>

#include "base/text.h"
#include "core/checkpoint_trust.h"

namespace mw {

void add_host_figures(State& state, const Event& event, const event::Measured& measured, uint16_t attempt) {
  for (const Reading& reading : measured.readings) {
    auto known = std::find_if(state.host.begin(), state.host.end(), [&](const Series& series) {
      return series.source == event.where.source && series.signal == reading.signal() && series.raw == reading.raw();
    });
    if (known == state.host.end()) {
      if (state.host.size() >= State::kHostSeriesLimit) {
        ++state.series_dropped;
        continue;
      }
      Series series;
      series.signal = clip(reading.signal(), 200);
      series.raw = clip(reading.raw(), 200);
      series.source = event.where.source;
      known = state.host.insert(state.host.end(), std::move(series));
    }
    known->add({measured.step, reading.value, event.at, event.where, attempt}, State::kHostPointLimit);
  }
}

void add_checkpoint(State& state, const Moment& moment, const event::CheckpointSaved& saved) {
  if (state.checkpoints.size() >= State::kCheckpointLimit) {
    state.checkpoints.erase(state.checkpoints.begin(), state.checkpoints.begin() + State::kCheckpointLimit / 2);
  }
  state.checkpoints.emplace_back(moment, saved);
  state.checkpoints.back().second.path = clip(saved.path, kTextLimit);
}

namespace {

/// A trainer that says nothing of its saves has saved what is found whole on the disk and was not there before, in the
/// latest attempt that came past its step.
void add_unsaid(State& state, const Event& event, const event::CheckpointSeen& seen) {
  if (seen.step == kNoStep || seen.how != event::CheckpointSeen::How::kWhole) return;
  for (const auto& [moment, saved] : state.checkpoints) {
    const uint32_t source = moment.where.source;
    const bool said = source >= state.sources.size() || state.sources[source].kind != "host";
    if (said || saved.step == seen.step) return;
  }
  for (size_t i = state.attempts.size(); i-- > 0;) {
    AttemptState& attempt = state.attempts[i];
    if (attempt.first_step == kNoStep || seen.step < attempt.first_step || seen.step > attempt.last_step) continue;
    attempt.last_checkpoint = std::max(attempt.last_checkpoint, seen.step);
    const Moment moment{seen.step, event.at, event.where, static_cast<uint16_t>(i), false};
    add_checkpoint(state, moment, {seen.step, seen.path, true});
    return;
  }
}

}  // namespace

void add_checkpoint_read(State& state, const Event& event, const event::CheckpointRead& read, uint16_t attempt) {
  auto& reads = state.checkpoint_reads;
  if (reads.size() >= State::kCheckpointLimit) reads.erase(reads.begin(), reads.begin() + State::kCheckpointLimit / 2);
  reads.emplace_back(Moment{read.step, event.at, event.where, attempt, false}, read);
  reads.back().second.path = clip(read.path, kTextLimit);
  reads.back().second.what = clip(read.what, kTextLimit);
}

void add_pointer(State& state, const Event& event, const event::PointerSeen& seen, uint16_t attempt) {
  auto& all = state.pointers;
  if (all.size() >= State::kCheckpointLimit) all.erase(all.begin(), all.begin() + State::kCheckpointLimit / 2);
  all.emplace_back(Moment{state.step_at(event.at), event.at, event.where, attempt, false}, seen);
  all.back().second.path = clip(seen.path, kTextLimit);
  all.back().second.what = clip(seen.what, kTextLimit);
  all.back().second.whole_path = clip(seen.whole_path, kTextLimit);
}

void add_checkpoint_scan(State& state, const Event& event, const event::CheckpointSeen& seen, uint16_t attempt) {
  auto& scans = state.checkpoint_scans;
  const event::CheckpointSeen* last = scans.empty() ? nullptr : &scans.back().second;
  // Each rank says it.
  const bool again = last != nullptr && is_deleted_by_log(*last) && is_deleted_by_log(seen);
  if (again && last->step == seen.step && last->path == seen.path) return;
  if (scans.size() >= State::kCheckpointLimit) scans.erase(scans.begin() + State::kCheckpointLimit / 2);
  scans.emplace_back(Moment{seen.step, event.at, event.where, attempt, false}, seen);
  scans.back().second.path = clip(seen.path, kTextLimit);
  scans.back().second.what = clip(seen.what, kTextLimit);
  scans.back().second.lacks = clip(seen.lacks, kTextLimit);
  add_unsaid(state, event, seen);
}

}  // namespace mw
