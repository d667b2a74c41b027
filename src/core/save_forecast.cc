#include "core/save_forecast.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/detect/support/rhythm.h"
#include "core/detect/support/saves.h"
#include "core/detect/tools/stats.h"
#include "core/save_interval.h"
#include "core/step_gaps.h"

namespace mw {
namespace {

constexpr std::string_view kShared = "/dev/shm";
constexpr double kSteps = 3;  // that have a rhythm, where the trainer does not say how long they take

/// The disk on which a checkpoint was measured last.
void forecast_disk(const State& state, SaveForecast& out) {
  const Series* newest = nullptr;
  for (const Series* sizes : detect::host_series(state, "checkpoint.bytes")) {
    if (newest == nullptr || sizes->points().back().at > newest->points().back().at) newest = sizes;
  }
  if (newest == nullptr) return;
  out.bytes = detect::bytes_needed(*newest, state.last_at);
  const auto free = detect::host_value(state, "disk.free", newest->raw, state.last_at);
  if (!free) return;
  out.disk = newest->raw;
  out.free = *free;
}

void forecast_shared(const State& state, SaveForecast& out) {
  const auto size = detect::host_value(state, "disk.size", kShared, state.last_at);
  const auto free = detect::host_value(state, "disk.free", kShared, state.last_at);
  const auto saves = detect::save_windows(state);
  if (!size || !free || saves.empty()) return;
  const double need = detect::shared_needed(saves, saves.size() - 1);
  if (need < detect::kSharedBySaves * *size) return;
  out.shared = need;
  out.shared_free = *free;
}

}  // namespace

std::optional<SaveForecast> save_forecast(const State& state) {
  if (state.closed || state.attempts.empty()) return std::nullopt;
  const AttemptState& attempt = state.attempts.back();
  SaveForecast out;
  out.step = detect::next_save_step(state, state.last_at);
  if (out.step == kNoStep || attempt.last_step == kNoStep || attempt.ended) return std::nullopt;
  if (out.step < attempt.last_step) return std::nullopt;  // it is over, or it never came
  if (state.total_steps > 0 && out.step > state.total_steps) return std::nullopt;
  double step_s = step_seconds(state);
  if (step_s <= 0) step_s = detect::rhythm_of(state, state.last_at, kSteps).usual;
  step_s = forecast_pace(state, step_s);
  out.in_s = std::max(0.0, static_cast<double>(out.step - attempt.last_step) * step_s);
  out.takes_s = save_seconds(state);
  forecast_disk(state, out);
  forecast_shared(state, out);
  return out;
}

std::string save_forecast_text(const std::optional<SaveForecast>& next) {
  if (!next) return "";
  const auto about = [](double seconds) { return format_duration(Duration::seconds(std::round(seconds))); };
  std::string text = next->fits() ? "" : "WILL NOT FIT: ";
  text += cat("at step ", next->step);
  if (next->in_s > 0) text += cat(", in about ", about(next->in_s));
  if (next->takes_s > 0) text += cat("; takes about ", about(next->takes_s));
  if (next->bytes > 0) {
    text += cat("; writes ", format_bytes(next->bytes));
    if (!next->disk.empty()) text += cat(" to ", next->disk, " (", format_bytes(next->free), " free)");
  }
  if (next->shared > 0) {
    text +=
        cat("; passes ", format_bytes(next->shared), " through /dev/shm (", format_bytes(next->shared_free), " free)");
  }
  return text;
}

}  // namespace mw
