// Reads, beside a watch, every byte of each checkpoint that was found whole: its numbers and its checksums. At the
// lowest priority, for a stated share of the time, and never while a save is being written.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "sense/checkpoints/deep_read.h"

namespace mw {

struct DeepScope {
  std::string home;  ///< below which manifests are kept
  double share = 0;  ///< of the time, in which it reads
  /// Reads one, off the loop's thread.
  std::function<DeepRead(const DeepJob& job, const std::atomic<bool>& stop)> read;
};

class DeepWatch final : public Task {
 public:
  static constexpr Duration kPeriod = Duration::seconds(5);  ///< between its turns
  static constexpr Duration kAfter = Duration::seconds(10);  ///< between a scan that found it whole and its reading
  static constexpr Duration kAgain = Duration::seconds(60);  ///< where a save was under way
  static constexpr size_t kTries = 10;                       ///< then it is left
  /// What a processor reads and looks at in a second, as long as nothing was measured here.
  static constexpr double kBytesPerSecond = 1e9;

  DeepWatch(Clock& clock, DeepScope scope) : clock_(clock), scope_(std::move(scope)), began_(clock.now()) {}
  ~DeepWatch() override { stop_->store(true); }

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;

 private:
  struct Try {
    Duration due;
    size_t count = 0;
  };
  std::vector<const std::pair<Moment, event::CheckpointSeen>*> unread(const State& state) const;
  const event::CheckpointSeen* next(const State& state);
  bool is_too_much(const State& state, const event::CheckpointSeen& seen, EventWriter& writer);
  void take(DeepRead done, EventWriter& writer);
  void skip(const std::string& why, EventWriter& writer);
  void skip_overtaken(const State& state, EventWriter& writer);

  Clock& clock_;
  DeepScope scope_;
  Time began_;
  std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);  // of the call
  size_t scans_ = 0, reads_ = 0;      // of the state, when nothing was left to read
  size_t overtaken_ = 0;              // scans of the state up to which that was said
  std::string why_;                   // it was stopped
  DeepJob job_;                       // that is out, or was last
  double rate_ = 0;                   // bytes in a second, pauses included, as measured; 0: not yet
  std::map<std::string, Try> tries_;  // by path
  BackgroundCall<DeepRead> call_;
};

}  // namespace mw
