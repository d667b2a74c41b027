#include "act/supervise/tainted.h"

#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

/// The onset is a figure of a step: what was saved at that step holds it. Of the others the step is only the last
/// one that was reported when it began.
bool is_of_its_step(const Trip& trip) {
  return trip.kind == "zero-reward" || trip.kind == "non-finite" || trip.kind == kUserRule;
}

/// Was a checkpoint saved after the onset? By its place in the same file, else by its step.
bool since_onset(const Trip& trip, const Moment& moment, int64_t step) {
  // Some write a step's figures after they saved it.
  if (is_of_its_step(trip) && trip.step != kNoStep && step != kNoStep && step >= trip.step) return true;
  if (moment.where.source == trip.where.source && moment.where.line != 0 && trip.where.line != 0) {
    return moment.where.line > trip.where.line;
  }
  return trip.step != kNoStep && step > trip.step;
}

bool of_last_attempt(const State& state, const Moment& moment) { return moment.attempt + 1U == state.attempts.size(); }

bool is_reported(const State& state, int64_t step) {
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& one) {
    return one.second.complete && one.second.step == step && of_last_attempt(state, one.first);
  });
}

/// The last time at which the attempt that began then was not at the onset yet, as far as the log shows.
Time last_sound(const State& state, const Trip& trip, Time began) {
  Time at = began;
  if (trip.step == kNoStep) return at;
  for (const Tick& tick : state.ticks) {
    if (tick.step != kNoStep && tick.step < trip.step) at = std::max(at, tick.at);
  }
  return at;
}

bool is_there(const Where& a, const Where& b) { return a.source == b.source && a.line == b.line; }

/// By when what the log says in that event had not been read yet; unknown where nobody watched.
Time not_read_by(const State& state, uint64_t order) {
  Time at;
  for (const Tick& tick : state.ticks) {
    if (tick.order >= order) break;
    at = tick.at;
  }
  return at;
}

/// A time at which the onset had not come yet or just came; unknown where neither clocks nor the watch show one. The
/// clock of a log may be of another zone: what it says counts where it fits in with what was watched.
Time onset_time(const State& state, const Trip& trip, Time began) {
  for (const ComponentState& component : state.components) {
    for (const ComponentState::Trouble& trouble : component.troubles)
      if (is_there(trouble.began.where, trip.where)) return trouble.began.at;
  }
  const Time earliest = last_sound(state, trip, began), latest = state.ticks.empty() ? Time() : state.ticks.back().at;
  const auto fits = [&](Time at) { return at.known() && at >= earliest && latest.known() && at <= latest; };
  for (const SignatureState& seen : state.signatures) {
    for (const SignatureState::Match& match : seen.matches) {
      if (!is_there(match.moment.where, trip.where)) continue;
      return fits(match.moment.at) ? match.moment.at : not_read_by(state, match.order);
    }
  }
  for (const TraceState& trace : state.traces) {
    if (!is_there(trace.moment.where, trip.where)) continue;
    return fits(trace.moment.at) ? trace.moment.at : not_read_by(state, trace.order);
  }
  for (const Incident& incident : state.incidents) {
    if (is_there(incident.latest.where, trip.where) && fits(incident.latest.at)) return incident.latest.at;
  }
  return {};
}

/// Of a checkpoint that may be a file or a folder: the newest of itself and what lies in it. kIo when the disk does not
/// answer.
Result<Time> changed(Disk& disk, const std::string& path) {
  Time newest;
  std::vector<std::string> places{path};
  auto names = disk.list(path);
  if (!names.ok() && is_silent(names.error())) return names.error();
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    places.push_back(cat(path, "/", name));
  }
  for (const std::string& place : places) {
    const auto info = disk.info(place);
    if (!info.ok() && is_silent(info.error())) return info.error();
    if (info.ok()) newest = std::max(newest, info->changed);
  }
  return newest;
}

/// Was all of it written before the onset, which came when the run had done that step? What is of a later one may be
/// the log's, which lags behind: only the machine's own clock shows that it is not.
class WrittenBefore {
 public:
  WrittenBefore(Disk& disk, const State& state, const Trip& trip, Time began)
      : disk_(disk),
        onset_(is_of_its_step(trip) ? Time() : onset_time(state, trip, began)),
        last_(state.by_host(trip.where) ? INT64_MAX : trip.step) {}
  /// `step`: kNoStep where none is known.
  bool is(const std::string& path, int64_t step) const {
    if (!onset_.known() || step > last_) return false;
    const auto tree = CheckpointTree::read(disk_, path);
    return tree.ok() && tree->seen_whole() && std::max(tree->newest(), tree->newest_empty_folder()) < onset_;
  }

 private:
  Disk& disk_;
  const Time onset_;
  const int64_t last_;
};

}  // namespace

Trip trip_on(const Incident& incident) {
  Trip trip;
  trip.kind = incident.kind;
  trip.reaction = incident.reaction;
  if (!incident.causes.empty()) trip.cause = incident.causes.front().id;
  trip.summary = incident.summary;
  trip.step = incident.latest.step;
  trip.where = incident.latest.where;
  return trip;
}

int64_t first_reported_tainted(const State& state, const Trip& trip) {
  int64_t first = kNoStep;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (!saved.complete || !of_last_attempt(state, moment)) continue;
    // Some say that they saved and not at which step: then it is the one that they were at.
    const int64_t at = saved.step != kNoStep ? saved.step : moment.step;
    if (!since_onset(trip, moment, at)) continue;
    const int64_t step = std::max<int64_t>(at, saved.step != kNoStep ? at : std::max<int64_t>(trip.step, 0));
    first = first == kNoStep ? step : std::min(first, step);
  }
  return first;
}

Result<int64_t> first_unreported_tainted(Disk& disk, const std::vector<std::string>& roots,
                                         const CheckpointLayout& layout, const State& state, const Trip& trip,
                                         Time began, const std::set<std::string>& skip) {
  if (!layout.known() || state.attempts.empty()) return kNoStep;
  // An onset before the attempt's first step: all that it saved came later. Where no step is ever reported, nothing
  // is known.
  const AttemptState& last = state.attempts.back();
  if (trip.step == kNoStep && last.first_step == kNoStep) return kNoStep;
  int64_t first = kNoStep;
  // A number that counts saves says nothing of the step: then the time decides, to which all of a save is later.
  const Time sound = layout.counts_saves ? last_sound(state, trip, began) : began;
  const WrittenBefore before(disk, state, trip, began);
  for (const std::string& root : roots) {
    const auto steps = checkpoint_steps(disk, root, layout);
    if (!steps.ok()) return steps.error();
    for (const int64_t step : *steps) {
      if (!layout.counts_saves && trip.step != kNoStep && step < trip.step) continue;
      if (first != kNoStep && step >= first) break;
      if ((!layout.counts_saves && is_reported(state, step)) ||
          skip.count(cat(root, "/", with_step(layout.folder, step))) != 0)
        continue;
      const std::string path = cat(root, "/", with_step(layout.folder, step));
      const auto at = changed(disk, path);
      if (!at.ok()) return at.error();
      if (*at < sound || before.is(path, layout.counts_saves ? kNoStep : step)) continue;
      first = step;
      break;
    }
  }
  return first;
}

}  // namespace mw
