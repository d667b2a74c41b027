#include "core/shipments.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/overwrites.h"
#include "core/resume_advice.h"
#include "core/trainings.h"

namespace mw {
namespace {

using How = Shipment::How;

/// Which folders earlier trainings of the command left.
class LeftFolders {
 public:
  explicit LeftFolders(const State& state) : earlier_(state) {}
  bool hold(const std::string& checkpoint) {
    if (!earlier_.any()) return false;
    const auto [known, anew] = known_.try_emplace(folder_of(checkpoint));
    if (anew) known->second = earlier_.left(known->first);
    return known->second;
  }
  const EarlierTrainings& trainings() const { return earlier_; }

 private:
  EarlierTrainings earlier_;
  std::map<std::string, bool> known_;
};

/// By step, the last attempt in which it was said to be saved; of earlier trainings (true) and of the one that goes on.
std::map<std::pair<bool, int64_t>, uint16_t> saved_in(const State& state, const EarlierTrainings& earlier) {
  std::map<std::pair<bool, int64_t>, uint16_t> last;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (!saved.complete || saved.step == kNoStep) continue;
    last[{earlier.has(moment.attempt, saved.path), saved.step}] = moment.attempt;
  }
  return last;
}

/// Which checkpoints no machine should begin from.
class Bad {
 public:
  explicit Bad(const State& state)
      : state_(state), beside_(began_beside(state)), unsound_(unsound_steps(state)), suspect_(unsound_) {
    if (const auto advice = resume_advice(state)) suspect_.insert(advice->suspect.begin(), advice->suspect.end());
  }
  /// `left`: an earlier training's. What became of the one behind it says nothing of that.
  bool operator()(uint16_t attempt, int64_t step, bool left) const {
    if (left) return beside_ || unsound_.count(step) != 0;
    return beside_ || suspect_.count(step) != 0 || left_behind(state_, attempt, step);
  }

 private:
  const State& state_;
  const bool beside_;  // it is another training than the one in the store
  const std::set<int64_t> unsound_;
  std::set<int64_t> suspect_;
};

/// What `latest` names by the run's own shipments.
struct Latest {
  int64_t step = kNoStep;
  std::string path;
  uint16_t attempt = 0;  ///< in which it was shipped
  Time at;
};

}  // namespace

bool is_ship(const ActionState& action) { return action.intent.action == kShip || action.intent.action == kShipBack; }

std::string_view word_of(How how) {
  switch (how) {
    case How::kWaiting:
      return "waiting";
    case How::kSending:
      return "sending";
    case How::kShipped:
      return "shipped";
    case How::kFailed:
      return "failed";
    case How::kHeld:
      return "held back";
  }
  return {};
}

std::vector<Shipment> shipments(const State& state) {
  std::map<std::string, Shipment> found;
  std::map<std::string, Time> since;  // of a place that all saves are written to: when its step was found there
  LeftFolders left(state);
  const auto saved = saved_in(state, left.trainings());
  const event::CheckpointSeen* const received = to_go_on_from(state);  // it was there before the first attempt
  uint16_t received_in = 0;
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (&seen == received) received_in = moment.attempt;
    if (seen.step == kNoStep || &seen == received || is_deleted_by_log(seen)) continue;
    if (is_unfit(seen)) {
      found.erase(seen.path);
      continue;
    }
    const auto said = saved.find({left.hold(seen.path), seen.step});
    // The first scan of what was there, whenever it comes, shows no save.
    const auto before = found.find(seen.path);
    if (before != found.end() && before->second.step != seen.step) since[seen.path] = moment.at;
    const bool there = received != nullptr && seen.path == received->path && before == found.end();
    const uint16_t scanned = there ? received_in : moment.attempt;
    const uint16_t attempt = said == saved.end() ? scanned : std::max(scanned, said->second);
    found[seen.path] = {seen.path, seen.step, How::kWaiting, {}, "", attempt};
  }
  for (const ActionState& action : state.actions) {
    const auto one = is_ship(action) ? found.find(action.intent.target) : found.end();
    if (one == found.end()) continue;
    const auto anew = since.find(action.intent.target);
    const bool earlier = action.attempt < one->second.saved_in || (anew != since.end() && action.at < anew->second);
    if (earlier) continue;  // it was saved anew since
    one->second.how = !action.done ? How::kSending : action.ok ? How::kShipped : How::kFailed;
    one->second.at = action.done_at;
    one->second.text = action.outcome;
  }
  const Bad bad(state);
  std::vector<Shipment> out;
  for (auto& [path, one] : found) {
    const bool due = one.how == How::kWaiting || one.how == How::kFailed;
    if (due && bad(one.saved_in, one.step, left.hold(path))) one.how = How::kHeld;
    out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(), [](const Shipment& a, const Shipment& b) { return a.step < b.step; });
  return out;
}

namespace {

Latest latest_of(const State& state, const std::vector<Shipment>& all, LeftFolders& left) {
  std::map<std::string_view, int64_t> steps;
  for (const Shipment& one : all) steps.emplace(one.path, one.step);
  Latest latest;
  for (const ActionState& action : state.actions) {
    if (!is_ship(action) || !action.done || !action.ok) continue;
    const auto one = steps.find(action.intent.target);
    if (one == steps.end()) continue;
    const bool aside = latest.step != kNoStep && left.hold(action.intent.target) && !left.hold(latest.path);
    const bool moves = action.intent.action == kShipBack || latest.step == kNoStep || one->second >= latest.step;
    if (moves && !aside) latest = {one->second, action.intent.target, action.attempt, action.done_at};
  }
  return latest;
}

}  // namespace

std::optional<Shipment> last_shipped(const State& state) {
  std::vector<Shipment> all = shipments(state);
  LeftFolders left(state);
  const Latest latest = latest_of(state, all, left);
  for (Shipment& one : all) {
    if (one.path != latest.path || latest.step == kNoStep) continue;
    one.at = latest.at;
    return std::move(one);
  }
  return std::nullopt;
}

std::optional<NextShipment> next_shipment(const State& state,
                                          const std::function<bool(const std::string& path)>& later) {
  const std::vector<Shipment> all = shipments(state);
  LeftFolders left(state);
  const Latest latest = latest_of(state, all, left);
  const bool known = latest.step != kNoStep, of_earlier = known && left.hold(latest.path);
  const Bad bad(state);
  const bool spoiled = known && bad(latest.attempt, latest.step, of_earlier);
  for (const bool earlier : {false, true}) {
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
      if (left.hold(one->path) != earlier) continue;
      if (one->how == How::kSending || bad(one->saved_in, one->step, earlier) || later(one->path)) continue;
      const bool gone_back = earlier ? of_earlier && spoiled : of_earlier || spoiled;
      const bool back = gone_back && one->step < latest.step;
      if (one->how == How::kShipped && !back) continue;
      return NextShipment{one->path, one->step, back, earlier && known && !of_earlier};
    }
  }
  return std::nullopt;
}

}  // namespace mw
