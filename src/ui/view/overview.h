// State → the tables that every face shows (terminal, Markdown, later others). Pure; nothing is invented: what the run
// does not show has no row.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

enum class Trend : uint8_t { kUnknown, kFlat, kRising, kFalling, kNoisy };
std::string_view trend_word(Trend trend);
std::string_view trend_arrow(Trend trend);  ///< "→", "↗", "↘", "~", ""

/// Mean of the last quarter against the first quarter, in units of the spread around the running mean. Of three to five
/// points: rising or falling only when all go that way. With fewer unknown.
Trend trend_of(const std::vector<Point>& points);

struct SignalLine {
  std::string name;  ///< canonical, or raw when no dialect maps it
  std::string raw;
  std::string unit;
  std::string group;
  const Series* series = nullptr;  ///< nullptr where the log's timing of a phase is all that shows it
  std::vector<Point> points;       ///< within the cycle (all of them when there is none)
  double first = 0, last = 0, min = 0, max = 0;
  double before = std::numeric_limits<double>::quiet_NaN();  ///< the last value before the cycle; NaN when none
  Trend trend = Trend::kUnknown;
};

/// From which point on a report looks; everything when both are unset.
struct Cycle {
  int64_t from_step = kNoStep;
  Time from;
  bool whole() const { return from_step == kNoStep && !from.known(); }
  bool has(const Point& point) const {
    return (from_step == kNoStep || point.step >= from_step) &&
           (!from.known() || !point.at.known() || point.at >= from);
  }
};

/// Canonical signals in the order of the signal table, families by name; then nothing.
std::vector<SignalLine> canonical_metrics(const State& state, const Cycle& cycle);
/// What no dialect maps, by raw name.
std::vector<SignalLine> other_metrics(const State& state, const Cycle& cycle);
std::vector<SignalLine> evaluations(const State& state, const Cycle& cycle);

/// The first line of any view: is it OK, since when, why, what now.
struct StatusLine {
  enum class Mood : uint8_t { kGood, kBad, kDoubt };
  Mood mood = Mood::kDoubt;
  std::string word;    ///< "CRASHED", "FINISHED", "RUNNING", "AT RISK", ...
  std::string rest;    ///< the sentence after it
  std::string resume;  ///< from which checkpoint to resume, a sentence; "" where that is no question
};
StatusLine status_line(const State& state);
/// Of the training itself nothing was read: no step, no figure, one evaluation at most. That is neither trouble nor a
/// sign that all is well.
bool nothing_known(const State& state);

/// "verl 0.6", "probably verl", "perhaps verl", "no known framework": by how sure its recognition is (State).
std::string framework_text(const State& state);

/// The first line of `text`, at most `limit` bytes, cut between words where that is possible.
std::string brief(std::string_view text, size_t limit);

/// The first line of `text`, at most `limit` bytes: as many whole sentences and clauses as fit; where not even one
/// does, as brief().
std::string sentences(std::string_view text, size_t limit);
/// For people: to the second, "2026-01-15T09:55:29Z"; "" when not known.
std::string when(Time at);
/// What a format rule is called in tables: its id, with a plain word for those that are not about the answer's form.
std::string format_label(const std::string& rule);
/// For people: bytes as "73.6 GB", thousands as whole numbers, everything else by format_short.
std::string format_value(double value, std::string_view unit);

struct TimeShare {
  std::string phase;            ///< "rollout", "train", ...; "not said" for what no phase of the step explains
  double seconds_per_step = 0;  ///< mean over all steps, those without the phase too
  double share = 0;             ///< of the sum of all phases, 0..1
  bool beside = false;          ///< it runs while the trainer does the others: it has no share
};
/// Time split of a step, largest first (what runs beside the rest comes last), from time.* signals, else (whole run
/// only) from phases. Empty when the run does not say.
std::vector<TimeShare> time_split(const State& state, const Cycle& cycle);
/// "generation", "training", "waiting for tools", "weight sync", "saving", or "" when no phase has most of the time.
std::string bound_by(const std::vector<TimeShare>& split);

/// "Without saving a step would take 54 s, 1.3 times as fast.", for each phase that is no work of the model and takes a
/// tenth of a step, the largest first.
std::vector<std::string> time_to_win(const std::vector<TimeShare>& split);

/// When the last step of the latest attempt was reported, by its figures, else by the clock of who watched; unknown
/// where neither has a time.
Time stepped_at(const State& state, int64_t step);

/// "2026-01-15T08:00:00Z to 2026-01-15T10:07:29Z (2h 07m by the few lines that have a clock; the log names no zone)":
/// what the run's clocks show; one time where they show no other second. Where they show none: how long the progress
/// bar over the steps says that they took, or "".
std::string time_span(const State& state);
/// " (UTC)" behind the head of a column of times; "" where a clock of the run names no zone.
std::string_view zone_of_times(const State& state);

/// "step 41, 2026-02-19T09:08:11Z, train.log:9001", whatever of it is known.
std::string describe(const State& state, const Moment& moment);
std::string describe(const State& state, Where where);

}  // namespace mw
