#include "app/live_view.h"

#include <algorithm>
#include <vector>

#include "ui/live/live_lines.h"

namespace mw {
namespace {

constexpr Duration kBusy = Duration::millis(250);  // between two views while events come
constexpr Duration kIdle = Duration::seconds(1);   // while none do: ages grow
constexpr size_t kWaitsKept = 21, kWaitsLeast = 3;

}  // namespace

std::optional<Duration> LiveView::turn(const State& state, bool, EventWriter&) {
  const Duration now = clock_.steady();
  if (!began_ || state.events != events_) note_step(state);
  const Duration since{now.ns - shown_.ns};
  const bool news = state.events != events_;
  const Duration due = news ? kBusy : kIdle;
  if (began_ && since < due) return Duration{due.ns - since.ns};
  note_checkpoint(state);
  began_ = true;
  events_ = state.events;
  shown_ = now;
  facts_.now = clock_.now();
  show_(state, facts_);
  return kIdle;
}

/// Steps that come at once, as a log is written in blocks, count as one: what is usual is the time between news.
void LiveView::note_step(const State& state) {
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  if (step == step_ && state.attempts.size() == attempts_) return;
  const Duration steady = clock_.steady();
  const bool same_attempt = state.attempts.size() == attempts_ && step_ != kNoStep;
  attempts_ = state.attempts.size();
  step_ = step;
  if (step == kNoStep) {
    facts_.stepped = {};
    return;
  }
  if (!began_) {  // it was there before the watch: when, only the log knows
    const Time logged = state.anchors.empty() ? Time() : state.anchors.back().first;
    facts_.stepped = logged.known() && logged <= clock_.now() ? logged : Time();
    stepped_ = {};
    return;
  }
  facts_.stepped = clock_.now();
  if (same_attempt && stepped_.ns != 0) waits_.push_back(Duration{steady.ns - stepped_.ns}.seconds());
  if (waits_.size() > kWaitsKept) waits_.pop_front();
  stepped_ = steady;
  if (waits_.size() < kWaitsLeast) return;
  std::vector<double> sorted(waits_.begin(), waits_.end());
  std::sort(sorted.begin(), sorted.end());
  facts_.usual_s = sorted[sorted.size() / 2];
  facts_.longest_s = sorted.back();
}

void LiveView::note_checkpoint(const State& state) {
  const NewestCheckpoint newest = newest_checkpoint(state);
  const int64_t saved = newest.step != kNoStep ? newest.step : static_cast<int64_t>(state.checkpoints.size());
  if (saved == saved_) return;
  saved_ = saved;
  if (began_) facts_.saved = clock_.now();
}

}  // namespace mw
