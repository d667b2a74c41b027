#include "ui/live/live_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "ui/report/paint.h"
#include "ui/view/layout.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/plot.h"

namespace mw {
namespace {

constexpr double kLateTimes = 3;          // usual times after which a step is late
constexpr double kLateLeast = 10;         // s; shorter steps are not worth a word
constexpr double kLateLongest = 1.25;     // of the longest of the last ones, which may have held an evaluation
constexpr int64_t kStepsUntilMissed = 3;  // after which a missing reward or checkpoint is reported
constexpr size_t kSparkCells = 24, kSparkShare = 4;
constexpr size_t kNameCells = 28;

/// Something to show. Where a line is too long, the piece of the lowest rank is shortened first, then left out.
struct Piece {
  std::string text, brief;  ///< brief "": no shorter form
  int rank = 0;
  Painter::Colour colour = nullptr;
};
using Pieces = std::vector<Piece>;

size_t width_of(const Pieces& pieces, size_t separator) {
  size_t cells = 0;
  for (const Piece& piece : pieces) cells += cells_of(piece.text) + (cells == 0 ? 0 : separator);
  return cells;
}

std::string line_of(Pieces pieces, size_t cells, const Console& console) {
  const Painter paint(console);
  const std::string_view separator = console.unicode ? " · " : " - ";
  std::erase_if(pieces, [](const Piece& piece) { return piece.text.empty(); });
  while (!pieces.empty() && width_of(pieces, 3) > cells) {
    const auto least =
        std::min_element(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.rank < b.rank; });
    if (!least->brief.empty()) {
      least->text = std::exchange(least->brief, "");
    } else if (pieces.size() > 1) {
      pieces.erase(least);
    } else {
      least->text = fit(least->text, cells);
      break;
    }
  }
  std::string out;
  for (const Piece& piece : pieces) {
    if (!out.empty()) out += paint.dim(separator);
    out += piece.colour != nullptr ? (paint.*piece.colour)(piece.text) : piece.text;
  }
  return out;
}

/// In whole seconds: tenths would only flicker.
std::string age(Time then, Time now) {
  const int64_t seconds = std::max<int64_t>(0, (now - then).ns / 1'000'000'000);
  return seconds < 60 ? cat(seconds, " s") : format_duration(Duration::seconds(static_cast<double>(seconds)));
}

std::string usual_text(double seconds) {
  return seconds < 10 || seconds >= 60 ? format_duration(Duration::seconds(seconds)) : cat(std::lround(seconds), " s");
}

Piece step_piece(const State& state) {
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  if (step == kNoStep) return {"no step seen yet", "", 10, &Painter::yellow};
  const int64_t own = state.attempts.back().total_steps, plan = own > 0 ? own : state.total_steps;
  return {cat("step ", step, plan > 0 ? cat(" of ", plan) : ""), "", 10, &Painter::bold};
}

/// How old the last step is, against what is usual.
Piece pace_piece(const State& state, const LiveFacts& facts) {
  if (!facts.stepped.known()) return {};
  const double usual = facts.usual_s > 0 ? facts.usual_s : seconds_per_step(state);
  const double old = (facts.now - facts.stepped).seconds();
  const std::string ago = cat(age(facts.stepped, facts.now), " ago");
  if (usual <= 0) return {cat("last step ", ago), ago, 8, nullptr};
  const std::string compared = cat("usually ", usual_text(usual));
  const bool late = old > kLateLeast && old > kLateTimes * usual && old > kLateLongest * facts.longest_s;
  if (late) return {cat("last step ", ago, ", LATE: ", compared), cat("LATE: ", ago), 9, &Painter::yellow};
  return {cat("last step ", ago, ", ", compared), cat("last ", ago), 8, nullptr};
}

/// What the supervisor does, where that is not plain running.
Piece phase_piece(const State& state, const LiveFacts& facts) {
  const Supervision& known = state.supervision;
  if (known.attempts.empty()) return {};
  const SupervisedAttempt& last = known.attempts.back();
  if (known.stop) return {"stopping", "", 11, &Painter::yellow};
  if (last.breaking.waits()) return {"asks to end it: midwatch approve", "midwatch approve?", 11, &Painter::yellow};
  if (last.restarting.waits()) return {"asks to restart: midwatch approve", "midwatch approve?", 11, &Painter::yellow};
  if (last.decided && last.restart) {
    const Time due = last.decided_at + Duration::seconds(last.wait_s);
    const std::string begins = due > facts.now ? cat(" begins in ", age(facts.now, due)) : std::string(" begins now");
    return {cat("attempt ", last.number + 1, begins), "waiting", 11, &Painter::yellow};
  }
  if (last.exited) return {cat("attempt ", last.number, " has ended"), "ended", 11, &Painter::yellow};
  if (known.pause) return {"PAUSED: midwatch resume continues it", "PAUSED", 11, &Painter::yellow};
  return {last.number > 1 ? cat("attempt ", last.number) : "", "", 5, nullptr};
}

/// The signal that shows best what the run learns: its reward, else its loss; nullptr: neither.
const Series* course_of(const State& state, bool* reward) {
  *reward = true;
  for (const std::string_view name : {"reward.mean", "return.mean", "reward.pass_rate", "accuracy.preference"}) {
    if (const Series* found = state.find(name); found != nullptr && !found->empty()) return found;
  }
  for (const Series& series : state.series) {
    if (series.signal.starts_with("reward.component.") && !series.empty()) return &series;
  }
  *reward = false;
  const Series* loss = state.find("loss.total");
  return loss != nullptr && !loss->empty() ? loss : nullptr;
}

Piece course_piece(const Series* course, bool reward, size_t cells, bool unicode) {
  if (course == nullptr) return {};
  const std::string value = format_value(course->points().back().value, "");
  const std::string head = cat(reward ? "reward " : "loss ", value);
  const size_t spark = std::min(kSparkCells, cells / kSparkShare);
  return {cat(head, " ", sparkline(course->points(), spark, unicode)), head, 10, &Painter::cyan};
}

Piece checkpoint_piece(const State& state, const NewestCheckpoint& newest, const LiveFacts& facts) {
  if (!newest.seen) return {};
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  const std::string old = facts.saved.known() ? cat(", ", age(facts.saved, facts.now), " ago")
                          : step != kNoStep && newest.step != kNoStep && step >= newest.step
                              ? cat(", ", step - newest.step, step == newest.step + 1 ? " step ago" : " steps ago")
                              : "";
  const std::string head = newest.step == kNoStep ? std::string("checkpoint") : cat("checkpoint step ", newest.step);
  return {cat(head, newest.whole ? " whole" : " saved, by the log", old), head, 8, nullptr};
}

Piece incident_piece(const State& state) {
  const Incident* worst = nullptr;
  size_t open = 0;
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.severity == Severity::kInfo) continue;
    ++open;
    if (worst == nullptr || incident.severity > worst->severity) worst = &incident;
  }
  if (worst == nullptr) return {};
  const std::string one = cat("#", worst->id, " ", worst->kind, " ", severity_name(worst->severity));
  const std::string since = worst->onset.step == kNoStep ? "" : cat(" since step ", worst->onset.step);
  const std::string more = open > 1 ? cat(" and ", open - 1, " more") : "";
  return {cat(one, since, more, open > 1 ? "" : cat(" (midwatch why ", worst->id, ")")), cat(one, more), 10,
          worst->severity == Severity::kCritical ? &Painter::red : &Painter::yellow};
}

/// What a person should know to be missing, once it is missing for some steps.
Piece missing_piece(const State& state, bool reward, bool checkpoint) {
  const State::Span steps = state.steps();
  if (steps.count < kStepsUntilMissed || (reward && checkpoint)) return {};
  const std::string what = cat(reward ? "" : "no reward seen", !reward && !checkpoint ? ", " : "",
                               checkpoint            ? ""
                               : only_doubted(state) ? "no checkpoint proved whole"
                                                     : "no checkpoint seen");
  return {what, "", 6, &Painter::yellow};
}

}  // namespace

NewestCheckpoint newest_checkpoint(const State& state) {
  NewestCheckpoint newest;
  for (size_t i = state.checkpoint_scans.size(); i-- > 0;) {
    const event::CheckpointSeen& seen = state.checkpoint_scans[i].second;
    if (seen.how != event::CheckpointSeen::How::kWhole || seen.step == kNoStep || seen.step <= newest.step) continue;
    const bool broken_since =
        std::any_of(state.checkpoint_scans.begin() + static_cast<std::ptrdiff_t>(i) + 1, state.checkpoint_scans.end(),
                    [&seen](const auto& later) {
                      return later.second.step == seen.step &&
                             (later.second.how == event::CheckpointSeen::How::kBroken || is_gone(later.second));
                    });
    if (!broken_since) newest = {true, seen.step, true};
  }
  if (!newest.seen && newest_without_step(state)) return {true, kNoStep, true};
  if (only_doubted(state)) return newest;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (!saved.complete || newest.whole || (saved.step == kNoStep && newest.step != kNoStep)) continue;
    if (saved.step == kNoStep || saved.step >= newest.step) newest = {true, saved.step, false};
  }
  return newest;
}

std::vector<std::string> live_lines(const State& state, const LiveFacts& facts, std::string_view watched, size_t cells,
                                    const Console& console) {
  bool reward = false;
  const Series* course = course_of(state, &reward);
  const NewestCheckpoint newest = newest_checkpoint(state);
  const bool known = state.framework != "custom";
  const Pieces progress = {{"midwatch", "", 3, &Painter::green},
                           {fit(escape_terminal(watched), kNameCells), "", 2, nullptr},
                           {known ? escape_terminal(state.framework) : "", "", 4, nullptr},
                           phase_piece(state, facts),
                           step_piece(state),
                           pace_piece(state, facts)};
  const Pieces learning = {course_piece(course, reward, cells, console.unicode),
                           checkpoint_piece(state, newest, facts)};
  const Pieces trouble = {incident_piece(state), missing_piece(state, course != nullptr && reward, newest.seen)};
  std::vector<std::string> lines;
  for (const Pieces* pieces : {&progress, &learning, &trouble}) {
    if (std::string line = line_of(*pieces, cells, console); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace mw
