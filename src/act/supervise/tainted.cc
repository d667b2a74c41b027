#include "act/supervise/tainted.h"

#include <algorithm>

#include "base/text.h"
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
  for (const std::string& root : roots) {
    const auto steps = checkpoint_steps(disk, root, layout);
    if (!steps.ok()) return steps.error();
    for (const int64_t step : *steps) {
      if (!layout.counts_saves && trip.step != kNoStep && step < trip.step) continue;
      if (first != kNoStep && step >= first) break;
      if ((!layout.counts_saves && is_reported(state, step)) ||
          skip.count(cat(root, "/", with_step(layout.folder, step))) != 0)
        continue;
      const auto at = changed(disk, cat(root, "/", with_step(layout.folder, step)));
      if (!at.ok()) return at.error();
      if (*at < sound) continue;
      first = step;
      break;
    }
  }
  return first;
}

}  // namespace mw
