#include "sense/checkpoints/deep_watch.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/resume_advice.h"
#include "core/save_forecast.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

using Seen = event::CheckpointSeen;

constexpr Duration kSoon = Duration::seconds(1);  // for an answer that is out

/// The trainer says that it saves.
bool is_saving(const State& state) {
  if (state.current_phase == "save") return true;
  if (state.checkpoints.empty() || state.attempts.empty()) return false;
  const auto& [moment, saved] = state.checkpoints.back();
  const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
  const bool last = moment.attempt + 1U == state.attempts.size() && !state.attempts.back().ended;
  return last && !saved.complete && step != kNoStep && !trained_past(state, moment, step);
}

/// The last of them, as the trainer logs its learning rate.
std::vector<int64_t> trained_steps(const State& state) {
  constexpr size_t kMost = 100'000;
  std::vector<int64_t> steps;
  const Series* const rate = state.find("lr");
  if (rate == nullptr) return steps;
  const std::vector<Point>& points = rate->points();
  for (size_t i = points.size() - std::min(points.size(), kMost); i < points.size(); ++i) {
    if (points[i].step != kNoStep && points[i].value > 0) steps.push_back(points[i].step);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::string about(double seconds) { return format_duration(Duration::seconds(std::round(seconds))); }

}  // namespace

/// The newest of each folder that was found whole, where it was not read since.
std::vector<const std::pair<Moment, Seen>*> DeepWatch::unread(const State& state) const {
  const auto& scans = state.checkpoint_scans;
  std::map<std::string_view, Time> read;
  for (const auto& [moment, one] : state.checkpoint_reads) {
    // What an earlier watch passed over, as it ended, is read now.
    if (one.how != event::CheckpointRead::How::kSkipped || moment.at >= began_) read[one.path] = moment.at;
  }
  std::set<std::string_view> met;
  std::map<std::string, const std::pair<Moment, Seen>*> newest;  // whole one, by folder
  for (size_t i = scans.size(); i-- > 0;) {
    const Seen& seen = scans[i].second;
    if (!met.insert(seen.path).second || seen.how != Seen::How::kWhole || seen.step == kNoStep) continue;
    const auto*& best = newest[folder_of(seen.path)];
    if (best == nullptr || best->second.step < seen.step) best = &scans[i];
  }
  std::vector<const std::pair<Moment, Seen>*> out;
  for (const auto& [folder, scan] : newest) {
    const auto last = read.find(scan->second.path);
    if (last == read.end() || last->second < scan->first.at) out.push_back(scan);
  }
  return out;
}

const Seen* DeepWatch::next(const State& state) {
  const auto& scans = state.checkpoint_scans;
  const auto& reads = state.checkpoint_reads;
  if (scans.size() == scans_ && reads.size() == reads_) return nullptr;
  bool waits = false;
  for (const auto* scan : unread(state)) {
    const auto& [moment, seen] = *scan;
    const auto tried = tries_.find(seen.path);
    if (tried != tries_.end() && tried->second.count >= kTries) continue;
    waits = true;
    if (tried != tries_.end() && tried->second.due > clock_.steady()) continue;
    if (moment.at.known() && clock_.now() - moment.at < kAfter) continue;
    return &seen;
  }
  if (!waits) {
    scans_ = scans.size();
    reads_ = reads.size();
  }
  return nullptr;
}

/// Of what was found and is not read any more it is said why.
void DeepWatch::over(const State& state, EventWriter& writer) {
  if (why_.empty()) why_ = "the watch ended while it was read";
  stop_->store(true);
  if (auto done = call_.take()) take(std::move(*done), writer);
  skip_overtaken(state, writer);
  std::vector<event::CheckpointRead> skipped;  // what is written changes the state
  for (const auto* scan : unread(state)) {
    const auto& [moment, seen] = *scan;
    if (moment.at < began_) continue;
    const bool reading = call_.started() && job_.path == seen.path;
    skipped.emplace_back();
    skipped.back().step = seen.step;
    skipped.back().path = seen.path;
    skipped.back().what = reading                        ? "the watch ended while it was read"
                          : tries_.count(seen.path) != 0 ? "it was written to when it was its turn, and the watch ended"
                                                         : cat("the watch ended before it was its turn, ",
                                                               format_duration(kAfter), " after it was found whole");
  }
  for (event::CheckpointRead& one : skipped) writer.observed(std::string(kScanSource), std::move(one));
}

/// Only the newest of a folder is read: of the others it is said why not.
void DeepWatch::skip_overtaken(const State& state, EventWriter& writer) {
  const auto& scans = state.checkpoint_scans;
  if (scans.size() == overtaken_) return;
  overtaken_ = scans.size();
  std::set<std::string_view> read, met;
  for (const auto& [moment, one] : state.checkpoint_reads) read.insert(one.path);
  std::map<std::string, int64_t> newest;  // step, by folder
  std::vector<std::pair<const Seen*, int64_t>> found;
  for (size_t i = scans.size(); i-- > 0;) {
    const auto& [moment, seen] = scans[i];
    if (!met.insert(seen.path).second || seen.how != Seen::How::kWhole || seen.step == kNoStep) continue;
    const int64_t best = newest.emplace(folder_of(seen.path), seen.step).first->second;
    if (seen.step < best && moment.at >= began_ && read.count(seen.path) == 0 && tries_.count(seen.path) == 0)
      found.emplace_back(&seen, best);
  }
  std::vector<event::CheckpointRead> skipped;  // what is written changes the state
  for (const auto& [seen, best] : found) {
    skipped.emplace_back();
    skipped.back().step = seen->step;
    skipped.back().path = seen->path;
    skipped.back().what =
        cat("step ", best, " was saved before it was its turn, ", format_duration(kAfter), " after it was found whole");
  }
  for (event::CheckpointRead& one : skipped) writer.observed(std::string(kScanSource), std::move(one));
}

/// Reading it would not be over before the next save.
bool DeepWatch::is_too_much(const State& state, const Seen& seen, EventWriter& writer) {
  const auto forecast = save_forecast(state);
  if (!forecast || forecast->in_s <= 0) return false;
  const double rate = rate_ > 0 ? rate_ : kBytesPerSecond * scope_.share;
  const double takes = static_cast<double>(seen.bytes) / rate;
  if (takes <= forecast->in_s) return false;
  skip(cat("to read its ", format_bytes(static_cast<double>(seen.bytes)), " for ", format_short(100 * scope_.share, 2),
           " % of the time takes about ", about(takes), ", and the next save comes in about ", about(forecast->in_s),
           ": a larger deep_share of [checkpoints] reads faster"),
       writer);
  return true;
}

void DeepWatch::skip(const std::string& why, EventWriter& writer) {
  event::CheckpointRead read;
  read.step = job_.step;
  read.path = job_.path;
  read.what = why;
  writer.observed(std::string(kScanSource), std::move(read));
}

void DeepWatch::take(DeepRead done, EventWriter& writer) {
  if (done.how == DeepRead::How::kStopped) {
    return skip(why_.empty() ? "the next save began while it was read" : why_, writer);
  }
  if (done.how == DeepRead::How::kBusy) {
    Try& again = tries_[job_.path];
    again.due = {clock_.steady().ns + kAgain.ns};
    ++again.count;
    return;
  }
  tries_.erase(job_.path);
  if (done.read.seconds > 0 && done.read.bytes > 0) rate_ = static_cast<double>(done.read.bytes) / done.read.seconds;
  writer.observed(std::string(kScanSource), std::move(done.read));
}

std::optional<Duration> DeepWatch::turn(const State& state, bool, EventWriter& writer) {
  if (auto done = call_.take()) take(std::move(*done), writer);
  const bool saving = is_saving(state);
  if (call_.started()) {
    if (saving && !stop_->load()) {
      why_ = "a save began while it was read";
      stop_->store(true);
    }
    return kSoon;
  }
  skip_overtaken(state, writer);
  if (saving || state.closed) return kPeriod;
  const Seen* seen = next(state);
  if (seen == nullptr) return kPeriod;
  job_ = {seen->path, seen->step, scope_.home, scope_.share, clock_.now(), nullptr, trained_steps(state)};
  if (is_too_much(state, *seen, writer)) return kPeriod;
  stop_ = std::make_shared<std::atomic<bool>>(false);
  why_.clear();
  call_.start([read = scope_.read, job = job_, stop = stop_] { return read(job, *stop); });
  return kSoon;
}

}  // namespace mw
