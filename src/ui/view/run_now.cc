#include "ui/view/run_now.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/pause.h"
#include "core/entropy_forecast.h"
#include "core/save_forecast.h"
#include "core/written_span.h"
#include "ui/view/checkpoints.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/reward_parts.h"

namespace mw {
namespace {

constexpr size_t kBarsShown = 3;                   // progress bars
constexpr size_t kNameShown = 60;                  // bytes of a bar's name
constexpr Duration kLook = Duration::seconds(15);  // midwatch dates lines without clocks at least so often
constexpr size_t kRhythm = 2;                      // equal distances between saves (or evaluations) that make a rhythm

/// The distance at which steps come again and again: the last ones must agree. 0: there is no rhythm.
int64_t rhythm_of(const std::set<int64_t>& steps) {
  if (steps.size() <= kRhythm) return 0;
  const std::vector<int64_t> last(std::prev(steps.end(), kRhythm + 1), steps.end());
  const int64_t distance = last[1] - last[0];
  for (size_t i = 1; i + 1 < last.size(); ++i) {
    if (last[i + 1] - last[i] != distance) return 0;
  }
  return distance;
}

/// Is it what a step consists of, by its name?
bool of_work(std::string_view name) {
  const std::string lower = to_lower(name);
  const auto in = [&lower](std::string_view word) { return contains(lower, word); };
  return in("generat") || in("rollout") || in("trajector") || in("reward") || in("sampl") || in("train") ||
         in("eval") || in("prompt") || in("episode");
}

int64_t setting(const State& state, std::string_view key) {
  const auto at = state.config.find(std::string(key));
  const auto value = at == state.config.end() ? std::nullopt : parse_int(trim(at->second));
  return value && *value > 0 ? *value : 0;
}

class Now {
 public:
  Now(const State& state, Time now)
      : state_(state),
        now_(now),
        done_(detect::last_done(state, state.attempts.size() - 1)),
        pace_(forecast_pace(state, seconds_per_step(state))) {}

  std::vector<NowLine> lines() {
    add("Phase", phase());
    if (done_ == kNoStep) return std::move(lines_);
    if (state_.total_steps <= 0 || done_ < state_.total_steps) {
      add("Next step", cat(done_ + 1, state_.total_steps > 0 ? cat(" of ", state_.total_steps) : "", due(done_ + 1)));
    }
    const std::string forecast = save_forecast_text(save_forecast(state_));
    add("Next save", forecast.empty() ? next(saves(), setting(state_, "save_steps")) : forecast);
    add("Next evaluation", next(evaluations(), 0));
    add("A crash would cost", crash_cost_text(state_));
    add("Saving", saving_advice(state_));
    add("Entropy", entropy_forecast_text(state_));
    return std::move(lines_);
  }

 private:
  void add(std::string_view what, std::string text) {
    if (!text.empty()) lines_.push_back({std::string(what), std::move(text)});
  }

  std::string phase() const {
    std::string text;
    if (!state_.current_phase.empty()) {
      text = state_.current_phase;
      const Time since = state_.phase_began.at;
      if (since.known()) {
        text += cat(" since ", when(since));
        if (state_.last_at > since) text += cat(", ", format_duration(state_.last_at - since), " by then");
      }
    }
    if (const std::string scored = rollouts_scored_text(state_); !scored.empty()) text += cat("; ", scored);
    size_t shown = 0;
    for (const auto& [name, bar] : state_.progress) {
      // A bar over the steps of the plan says no more than the step; one of the start-up stays where it was.
      if (bar.done >= bar.total || bar.total == state_.total_steps || !of_work(name) || ++shown > kBarsShown) continue;
      text += cat(text.empty() ? "" : "; ", brief(name, kNameShown), " ", bar.done, " of ", bar.total);
    }
    return text;
  }

  /// ", expected 2026-02-19T14:42:00Z" for the end of a step.
  std::string due(int64_t step) const {
    if (pace_ <= 0 || !state_.last_at.known() || detect::is_paused(state_)) return "";
    const Time last = done_at();
    const Time at = last + Duration::seconds(pace_ * static_cast<double>(step - done_));
    // A log without clocks is dated when midwatch looks: what came since then is not known yet.
    if (now_.known() && at <= now_ && now_ - at <= kLook) return ", due now";
    return at > std::max(ran_until(state_), now_) ? cat(", expected ", when(at)) : cat(", was expected ", when(at));
  }

  /// When the last step reported last.
  Time done_at() const {
    Time at = stepped_at(state_, done_);
    if (!at.known()) return ran_until(state_);
    for (const char* const between : {"eval", "save"}) {  // the next step begins when they are over
      const auto phase = state_.phases.find(between);
      if (phase == state_.phases.end()) continue;
      for (const Point& end : phase->second.ends) at = std::max(at, end.at);
    }
    return at;
  }

  std::set<int64_t> saves() const {
    std::set<int64_t> steps;
    for (const CheckpointRow& row : checkpoint_rows(state_, {})) {
      if (row.step != kNoStep) steps.insert(row.step);
    }
    return steps;
  }

  std::set<int64_t> evaluations() const {
    std::set<int64_t> steps;
    for (const Series& series : state_.eval) {
      for (const Point& point : series.points()) {
        if (point.step != kNoStep) steps.insert(point.step);
      }
    }
    return steps;
  }

  std::string next(const std::set<int64_t>& seen, int64_t every) const {
    const bool said = every > 0;
    if (!said) every = rhythm_of(seen);
    if (every <= 0) return "";
    // Where the settings say the distance, it is counted from 0; else from the last one that was seen.
    const int64_t from = said || seen.empty() ? 0 : *seen.rbegin();
    constexpr int64_t kMissed = 3;  // turns after which what was seen no longer says when the next one comes
    if (!said && done_ - from > kMissed * every) return "";
    int64_t step = from + every * std::max<int64_t>(1, (done_ - from) / every);
    while (step <= done_) step += every;
    if (state_.total_steps > 0 && step > state_.total_steps) return "";
    return cat("step ", step, " (every ", every, said ? " by the settings)" : " so far)", due(step));
  }

  const State& state_;
  Time now_;
  int64_t done_;
  double pace_;
  std::vector<NowLine> lines_;
};

}  // namespace

std::vector<NowLine> run_now(const State& state, Time now) {
  const bool on = state.verdict == "running" || state.verdict == "unknown";
  if (!on || state.attempts.empty()) return {};
  return Now(state, now).lines();
}

std::string_view now_heading(const State& state) {
  return state.verdict == "running" ? "Now" : "Where it stood at the end of these files";
}

}  // namespace mw
