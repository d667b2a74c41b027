// Ships a run's checkpoints to its store beside the watch: one after another, the newest first, off the loop's thread
// and at low priority. What comes of it stands in the journal (core/shipments.h). The journal and the logs follow.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/vault/push.h"
#include "act/vault/stoppable_store.h"
#include "core/shipments.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"

namespace mw {

/// One checkpoint to be shipped.
struct ShipJob {
  NextShipment what;
  int64_t least_bytes = 0;        ///< that its last scan found
  bool links = true;              ///< its files get second names, so that its trainer cannot take them away
  std::string framework, layout;  ///< "" where not known; layout: the name of a step's folder, "global_step_{step}"
  std::vector<std::pair<std::string, std::string>> facts;  ///< of the run, for whoever goes on with it elsewhere
  bool beside = false;  ///< its trainer takes any folder among its checkpoints for one of them
};

struct ShipScope {
  /// Both are called on threads of their own and own what they use. They end soon after the flag was set.
  std::function<Result<vault::Pushed>(const ShipJob& job, const vault::StopFlag& stop)> ship;
  std::function<Result<int64_t>(const vault::StopFlag& stop)> ship_logs;
  /// Is the folder still there?
  std::function<bool(const std::string& path)> there;
  std::function<CheckpointLayout(const std::string& framework)> layout;
  std::function<void(const std::string& sentence)> say;
  std::string place;                                       ///< the store, for people
  std::vector<std::pair<std::string, std::string>> facts;  ///< as of ShipJob, those that do not change
  Duration wait = Duration::seconds(600);                  ///< at most, when the run is over
  /// What the first attempt was to go on from (to_go_on_from()) is in the store, byte by byte.
  bool received = false;
};

class ShipTask final : public Task {
 public:
  static constexpr Duration kFirstWait = Duration::seconds(5);      ///< after a try that failed; doubles ...
  static constexpr Duration kLongestWait = Duration::seconds(900);  ///< ... up to this
  static constexpr Duration kLostFor = Duration::seconds(60);  ///< before one that was not there is looked for again
  static constexpr Duration kLogsEvery = Duration::seconds(60);
  /// After a checkpoint was shipped; no sooner, where one follows the other.
  static constexpr Duration kLogsSoon = Duration::seconds(1);
  static constexpr Duration kPoll = Duration::millis(100);     ///< while a call is out
  static constexpr Duration kAtStop = Duration::seconds(20);   ///< of `wait`, where somebody stops the run
  static constexpr Duration kLastCall = Duration::seconds(3);  ///< for a call that was asked to end

  ShipTask(Clock& clock, ShipScope scope) : clock_(clock), scope_(std::move(scope)) {}
  ~ShipTask() override;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;
  /// Asked when the command is over and none follows: may the watch end? Not while something is to be shipped, for
  /// `wait` at most; `stops`: how often somebody asked to stop.
  bool may_end(const State& state, int stops);

 private:
  struct Retry {
    Duration due;
    Duration wait;
    bool lost = false;     ///< it was not there
    bool refused = false;  ///< not whole, say: tried again while the run goes on, and not waited for at its end
  };
  void settle_doubts(const State& state, EventWriter& writer);
  void begin(const State& state, EventWriter& writer);
  void note_received(const State& state, EventWriter& writer);
  void take(Result<vault::Pushed> done, const State& state, EventWriter& writer);
  void take_failure(const Error& error, const State& state, EventWriter& writer);
  void say_what_is_left(const State& state) const;
  void ship_logs();
  void lost(const std::string& path);
  bool later(const std::string& path) const;
  static bool trained(const State& state);
  Duration since(Duration then) const { return {clock_.steady().ns - then.ns}; }

  Clock& clock_;
  ShipScope scope_;
  BackgroundCall<Result<vault::Pushed>> call_;
  BackgroundCall<Result<int64_t>> logs_;
  vault::StopFlag stop_ = std::make_shared<std::atomic<bool>>(false);
  NextShipment what_;    ///< that is being shipped
  uint32_t action_ = 0;  ///< its number in the journal
  Duration began_;
  std::map<std::string, Retry> retries_;  // by path
  bool doubts_settled_ = false, received_noted_ = false, logs_failed_ = false, logs_last_ = false, logs_soon_ = false;
  std::optional<Duration> logs_at_, ended_;
};

}  // namespace mw
