#include "core/long_phase.h"

#include <algorithm>

#include "base/text.h"
#include "core/bounded.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 64;  // bytes

/// What may say nothing for long.
bool is_long(std::string_view phase) { return phase == "eval" || phase == "save" || phase == "init"; }

State::LongPhase* under_way(State& state) {
  if (state.long_phases.empty() || state.long_phases.back().until.known()) return nullptr;
  return &state.long_phases.back();
}

void begin_long(State& state, const Moment& moment, Time heard, bool evaluates) {
  if (!heard.known()) return;
  make_room(state.long_phases, State::kLongPhases);
  state.long_phases.push_back({heard, {}, moment.step, moment.attempt, evaluates});
}

void end_long(State& state, Time heard) {
  if (State::LongPhase* const phase = under_way(state)) phase->until = heard;
}

}  // namespace

void begin_phase(State& state, std::string_view phase, const Moment& moment, Time heard) {
  state.current_phase = clip(phase, kNameLimit);
  state.phase_began = moment;
  end_long(state, heard);
  if (is_long(phase)) begin_long(state, moment, heard, phase == "eval");
}

void end_phase(State& state, std::string_view phase, Time heard) {
  if (state.current_phase != phase) return;
  state.current_phase.clear();
  end_long(state, heard);
}

void begin_save(State& state, bool complete, const Moment& moment, Time heard) {
  end_long(state, heard);
  if (!complete) begin_long(state, moment, heard, false);
}

void add_phase_end(PhaseState& phase, const Point& end) {
  phase.seconds_min = phase.times == 0 ? end.value : std::min(phase.seconds_min, end.value);
  phase.seconds_max = std::max(phase.seconds_max, end.value);
  phase.seconds_sum += end.value;
  phase.seconds_last = end.value;
  ++phase.times;
  if (phase.ends.size() >= PhaseState::kEndsKept) phase.ends.erase(phase.ends.begin());
  phase.ends.push_back(end);
}

void trained_on(State& state, uint16_t attempt, int64_t step, Time heard) {
  State::LongPhase* const phase = under_way(state);
  if (phase == nullptr) return;
  // The record of the step that was under way when it was announced may come before, within or after it.
  if (phase->attempt == attempt && phase->step == kNoStep) phase->step = step;
  if (phase->attempt == attempt && step <= phase->step + 1) return;
  end_long(state, heard);
  if (is_long(state.current_phase)) state.current_phase.clear();
}

}  // namespace mw
