#include "ui/view/checkpoints.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/cost.h"
#include "core/crash_cost.h"
#include "core/detect/support/failure_chain.h"
#include "core/removals.h"
#include "core/resume_advice.h"
#include "core/step_done.h"
#include "ui/view/attempts.h"

namespace mw {
namespace {

constexpr size_t kWhatShown = 80;  // bytes of what is wrong with one
constexpr std::string_view kBegan = "its save began";
constexpr double kDearSeconds = 3600;       // work at risk that is worth a word
constexpr double kLongSeconds = 24 * 3600;  // a run this long will meet a failure

std::string found_as(const event::CheckpointSeen& seen) {
  const std::string what = seen.what.empty() ? "" : cat(": ", brief(seen.what, kWhatShown));
  switch (seen.how) {
    case event::CheckpointSeen::How::kWhole:
      return "whole on disk";
    case event::CheckpointSeen::How::kBroken:
      return cat("BROKEN", what);
    case event::CheckpointSeen::How::kUnknown:
      break;
  }
  if (is_deleted_by_log(seen)) return cat("gone, by the log: ", seen.what);
  if (is_gone(seen)) return "gone from the disk";
  if (!seen.lacks.empty()) return cat("NOT TO RESUME FROM: it lacks ", seen.lacks);
  return cat("on disk, not proved whole", seen.doubt.empty() ? "" : cat(": ", brief(seen.doubt, kWhatShown)));
}

double save_seconds(const State& state, uint16_t attempt, int64_t step) {
  double seconds = 0;
  if (const Series* series = state.find("time.save"); series != nullptr) {
    for (const Point& point : series->points()) {
      if (point.attempt == attempt && point.step == step) seconds = point.value;
    }
  }
  if (const auto phase = state.phases.find("save"); seconds <= 0 && phase != state.phases.end()) {
    for (const Point& end : phase->second.ends) {
      if (end.attempt == attempt && end.step == step) seconds = end.value;
    }
  }
  return seconds;
}

/// An incident says that this save failed or is not whole.
const Incident* objection(const State& state, uint16_t attempt, int64_t step) {
  for (const Incident& incident : state.incidents) {
    const bool of_saves = incident.kind == "checkpoint-incomplete" || incident.kind == "checkpoint-failed";
    if (of_saves && incident.severity != Severity::kInfo && incident.onset.attempt == attempt &&
        incident.onset.step == step)
      return &incident;
  }
  return nullptr;
}

/// When a line without a clock was written: after the last one that has one, or when the step was done.
Time about(const State& state, const Moment& moment, int64_t step) {
  const uint32_t source = moment.where.source;
  const Time before = source < state.sources.size() ? state.sources[source].clock.before(moment.where.line) : Time{};
  return before.known() || step == kNoStep ? before : done_at(state, step);
}

CheckpointRow logged(const State& state, const Moment& moment, const event::CheckpointSaved& one) {
  CheckpointRow row;
  row.step = one.step != kNoStep ? one.step : moment.step;
  row.at = moment.at;
  row.attempt = moment.attempt;
  row.path = one.path;
  if (!row.at.known()) row.about = about(state, moment, row.step);
  const bool done = one.complete || (row.step != kNoStep && trained_past(state, moment, row.step));
  row.saved = done;
  row.verified = one.complete ? "saved, by the log" : done ? "its save began, training went on" : std::string(kBegan);
  if (const Incident* incident = objection(state, moment.attempt, row.step); incident != nullptr) {
    row.saved = false;
    row.verified = cat("not trusted: incident #", incident->id);
  }
  if (row.step != kNoStep) row.seconds = save_seconds(state, row.attempt, row.step);
  return row;
}

/// Two lines of one save: that it began and that it was saved, or that two components each write their share.
bool same_save(const CheckpointRow& a, const CheckpointRow& b) {
  return a.step == b.step && a.attempt == b.attempt && a.step != kNoStep &&
         (a.path == b.path || a.path.empty() || b.path.empty());
}

/// The later line says how it stands; that a share has begun takes nothing from another's that is there.
void join(CheckpointRow& known, CheckpointRow later) {
  if (later.path.empty()) later.path = known.path;
  if (!later.at.known()) later.at = known.at;
  if (!later.about.known()) later.about = known.about;
  if (known.saved && !later.saved && later.verified == kBegan) {
    later.saved = true;
    later.verified = known.verified;
  }
  known = std::move(later);
}

void see(CheckpointRow& row, const event::CheckpointSeen& seen) {
  if (!is_deleted_by_log(seen)) {
    row.bytes = seen.bytes;
    row.path = seen.path;
  }
  row.verified = found_as(seen);
  row.saved = !is_unfit(seen) && !is_doubted(seen) && !is_gone(seen);
}

/// What reading all bytes found.
void add_reads(const State& state, std::vector<CheckpointRow>& rows) {
  using How = event::CheckpointRead::How;
  for (const auto& [moment, read] : state.checkpoint_reads) {
    const auto row = std::find_if(rows.rbegin(), rows.rend(),
                                  [&path = read.path](const CheckpointRow& one) { return one.path == path; });
    if (row == rows.rend() || !row->verified.starts_with("whole on disk")) continue;
    if (read.how == How::kSane)
      row->verified = cat("whole on disk, all bytes read: ", read.what.empty() ? "sane" : brief(read.what, kWhatShown));
    if (read.how == How::kSkipped) row->verified = cat("whole on disk, not read: ", brief(read.what, kWhatShown));
    if (unsound(state, read.path) == nullptr || (read.how != How::kSuspect && read.how != How::kCorrupt)) continue;
    row->verified = cat(read.how == How::kCorrupt ? "CORRUPT: " : "SUSPECT: ", brief(read.what, kWhatShown));
    row->saved = false;
  }
}

/// What was saved since the onset of what spoils the weights, as the advice to resume has it.
void suspect(const State& state, std::vector<CheckpointRow>& rows) {
  const auto advice = resume_advice(state);
  if (!advice) return;
  for (CheckpointRow& row : rows) {
    const bool after = std::binary_search(advice->suspect.begin(), advice->suspect.end(), row.step);
    if (after && row.saved && row.attempt + 1U == state.attempts.size())
      row.verified += cat(", suspect since step ", advice->onset);
  }
}

/// What midwatch removed lies there no more, whatever was found before.
void remove_from(const State& state, std::vector<CheckpointRow>& rows) {
  const Removals removals(state);
  std::map<std::string_view, Time> found;  // by path, when it was found there last
  for (const auto& [moment, seen] : state.checkpoint_scans) found[seen.path] = moment.at;
  for (CheckpointRow& row : rows) {
    const auto scan = found.find(row.path);
    const auto removed = removals.of(row.path, scan == found.end() ? row.at : std::max(row.at, scan->second));
    if (!removed) continue;
    row.saved = false;
    row.removed = true;
    row.verified = cat("removed by midwatch", removed->known() ? cat(" ", format_utc(*removed)) : "");
  }
}

bool failed_before(const State& state) {
  return state.attempts.size() > 1 ||
         std::any_of(state.incidents.begin(), state.incidents.end(),
                     [](const Incident& incident) { return incident.severity == Severity::kCritical; });
}

}  // namespace

std::vector<CheckpointRow> checkpoint_rows(const State& state, const Cycle& cycle) {
  std::vector<CheckpointRow> rows;
  for (const auto& [moment, one] : state.checkpoints) {
    CheckpointRow row = logged(state, moment, one);
    const auto known =
        std::find_if(rows.rbegin(), rows.rend(), [&](const CheckpointRow& before) { return same_save(before, row); });
    if (known == rows.rend()) {
      rows.push_back(std::move(row));
    } else {
      join(*known, std::move(row));
    }
  }
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    const auto match = [&of = seen, &at = moment](const CheckpointRow& row) {
      if (is_deleted_by_log(of))
        return row.step == of.step && deletes(at, of, {row.step, row.at, {}, row.attempt}, row.path);
      return row.step == of.step && (of.step != kNoStep || row.path == of.path);
    };
    const auto at = std::find_if(rows.rbegin(), rows.rend(), match);
    if (at == rows.rend() && is_deleted_by_log(seen)) continue;  // saved before the log begins
    if (at == rows.rend()) {
      rows.push_back({});
      rows.back().step = seen.step;
      rows.back().attempt = moment.attempt;
      rows.back().at = moment.at;
      see(rows.back(), seen);
    } else {
      see(*at, seen);
      if (!at->at.known()) at->at = moment.at;  // the log has no clock: when it was found
    }
  }
  add_reads(state, rows);
  suspect(state, rows);
  remove_from(state, rows);
  std::erase_if(rows, [&](const CheckpointRow& row) {
    // A cycle that begins at a step needs no guess at the time.
    const Time at = row.at.known() || cycle.from_step != kNoStep ? row.at : row.about;
    return !cycle.has(Point{row.step == kNoStep ? INT64_MAX : row.step, 0, at, {}, 0});
  });
  return rows;
}

namespace {

/// Is what was last found of that checkpoint on the disk no ground to count on it?
bool spoken_against(const State& state, int64_t step) {
  std::map<std::string_view, const event::CheckpointSeen*> last;  // by path
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.step == step) last[seen.path] = &seen;
  }
  const auto bad = [](const auto& one) {
    return is_unfit(*one.second) || is_doubted(*one.second) || is_gone(*one.second);
  };
  return (!last.empty() && std::all_of(last.begin(), last.end(), bad)) || unsound_steps(state).count(step) != 0;
}

/// Work of the attempts before the last one, from `first` on, by their own clocks.
double work_before_last(const State& state, size_t first) {
  double seconds = 0;
  for (size_t i = first; i + 1 < state.attempts.size(); ++i) {
    const AttemptState& one = state.attempts[i];
    const Time since = began_by_clock(state, one);
    if (since.known() && one.last.at > since) seconds += (one.last.at - since).seconds();
  }
  return seconds;
}

}  // namespace

CrashCost crash_cost(const State& state) {
  CrashCost cost;
  if (state.attempts.empty() || (state.verdict != "running" && state.verdict != "unknown")) return cost;
  const size_t last = state.attempts.size() - 1;
  const int64_t reached = detect::last_done(state, last);
  if (reached == kNoStep) return cost;
  const size_t first = first_of_lineage(state);
  const bool none_proved = only_doubted(state).has_value();
  for (const CheckpointRow& row : checkpoint_rows(state, {})) {
    if (none_proved || !row.saved || row.attempt < first || row.step == kNoStep || row.step > reached) continue;
    if (cost.from != kNoStep && row.step < cost.from) continue;
    cost.from = row.step;
  }
  const auto counted = cost.from == kNoStep ? newest_without_step(state) : std::nullopt;
  const int64_t resumed = state.attempts[last].resumed_at;
  const bool there = resumed != kNoStep && cost.from < resumed && !spoken_against(state, resumed);
  if (there) cost.from = resumed;  // it was there when this attempt began
  if (counted) {
    cost.path = counted->path;
    cost.seconds = work_since(state, counted->verified);
    cost.known = true;
    return cost;
  }
  const int64_t begin = cost.from != kNoStep ? cost.from : begun_from(state, first);
  cost.steps = std::max<int64_t>(0, reached - begin);
  cost.seconds = work_since(state, cost.from) + (cost.from == kNoStep ? work_before_last(state, first) : 0);
  cost.known = true;
  return cost;
}

std::string crash_cost_text(const State& state) {
  const CrashCost cost = crash_cost(state);
  if (!cost.known) return "";
  if (!cost.path.empty()) {
    const std::string work = work_text(cost.seconds, cost_per_hour(state));
    return cat(work.empty() ? "what was done" : work, " since ", basename(cost.path), ", whose step is not known");
  }
  std::string text = cat(cost.steps, cost.steps == 1 ? " step" : " steps");
  if (const std::string work = work_text(cost.seconds, cost_per_hour(state)); !work.empty()) text += cat(" and ", work);
  const std::string verified = verified_text(state);
  if (cost.from == kNoStep && only_doubted(state)) return cat(text, ": ", verified);
  const bool elsewhere = cost.from == kNoStep && !verified.empty();  // an earlier attempt saved it, or somebody else
  text += elsewhere              ? ": no checkpoint of it is known"
          : cost.from == kNoStep ? ": no checkpoint is known"
                                 : cat(" since the checkpoint of step ", cost.from);
  return verified.empty() ? text : cat(text, "; ", verified);
}

std::string saving_advice(const State& state) {
  const CrashCost cost = crash_cost(state);
  const bool long_run = state.first_at.known() && (last_sign_of_life(state) - state.first_at).seconds() >= kLongSeconds;
  if (!cost.known || cost.seconds < kDearSeconds || (!failed_before(state) && !long_run)) return "";
  return failed_before(state) ? "The run has failed before: save more often, so that the next failure costs less."
                              : "The run is a day old: save more often than this, a failure will come.";
}

}  // namespace mw
