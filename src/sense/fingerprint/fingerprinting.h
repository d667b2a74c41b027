// Takes the fingerprint of every attempt beside the watch, and reports the differences to the attempt before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "sense/fingerprint/collect.h"

namespace mw {

inline constexpr std::string_view kFingerprintFile = "fingerprint.json";  ///< in an attempt's folder

/// Whose fingerprints are taken, and how.
struct FingerprintScope {
  std::function<int()> attempt;                    ///< the one that goes on, or was the last; 0: none yet
  std::function<std::string(int attempt)> folder;  ///< where an attempt is recorded; of 0: of what the run goes on from
  /// What collects it, each on a thread of its own. They own what they use.
  std::function<std::vector<std::function<Fingerprint()>>(int attempt)> collectors;
  std::function<Result<void>(const std::string& path, std::string_view text)> write_file;
  std::function<void(const std::string& sentence)> say;
};

class Fingerprinting final : public Task {
 public:
  static constexpr Duration kLimit = Duration::seconds(20);     ///< what is not back by then is left out
  static constexpr Duration kLastLimit = Duration::seconds(2);  ///< likewise where the watch ends
  static constexpr Duration kPoll = Duration::millis(20);

  Fingerprinting(Disk& disk, Clock& clock, FingerprintScope scope)
      : disk_(disk), clock_(clock), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;

 private:
  std::string path(int attempt) const { return scope_.folder(attempt) + "/" + std::string(kFingerprintFile); }
  Result<Fingerprint> read(int attempt) const;
  void begin(int attempt, const State& state, EventWriter& writer);
  bool collect();
  void finish(const State& state, EventWriter& writer);
  void report(const Fingerprint& now, const State& state, EventWriter& writer, bool aloud);

  Disk& disk_;
  Clock& clock_;
  FingerprintScope scope_;
  int attempt_ = 0;
  bool taking_ = false;
  Duration began_;
  std::vector<BackgroundCall<Fingerprint>> out_;
  Fingerprint taken_;
};

/// The collectors of this machine itself.
std::vector<std::function<Fingerprint()>> collectors_of(const Subject& subject);

}  // namespace mw
