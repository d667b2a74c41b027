// The machine under the run, beside a watch: measures every few seconds, and emits what changed to the
// run's journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/task.h"
#include "platform/clock.h"
#include "platform/gpus.h"
#include "platform/system.h"
#include "read/books/knowledge_base.h"
#include "sense/host/host.h"
#include "sense/host/host_ledger.h"
#include "sense/processes/rhythm.h"

namespace mw {

/// What of the machine is watched, and through what.
struct HostScope {
  std::shared_ptr<System> system;
  std::shared_ptr<Gpus> gpus;        ///< nullptr: GPUs are not watched
  std::vector<std::string> folders;  ///< absolute; where the run is known to write
  std::function<int64_t()> root;     ///< pid of the process above all of the run's, 0 while there is none; may be empty
};

class HostWatch final : public Task {
 public:
  static constexpr Duration kPeriod = Duration::seconds(10);    ///< between two rounds
  static constexpr Duration kSilence = Duration::seconds(120);  ///< of the run's files, from which on it is reported
  static constexpr Duration kPoll = Duration::millis(50);       ///< between two questions whether slow calls are back

  HostWatch(Clock& clock, const KnowledgeBase& knowledge, HostScope scope);
  ~HostWatch() override;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  class Hearing;
  host::Aim aim_at(const State& state) const;
  bool collect(EventWriter& writer, Duration now);
  void report_silence(EventWriter& writer, Duration now);

  Clock& clock_;
  HostScope scope_;
  std::unique_ptr<Hearing> hearing_;
  host::Seen seen_;
  std::vector<std::unique_ptr<host::Part>> parts_;
  size_t next_part_ = 0;  ///< the first that has not reported in this round
  bool collecting_ = false, news_ = false, silent_ = false;
  Duration due_;
  int64_t root_ = 0;
  components::Rhythm rhythm_;
};

/// Over this machine itself. `root` as in HostScope.
std::unique_ptr<HostWatch> watch_machine(Clock& clock, const KnowledgeBase& knowledge, std::vector<std::string> folders,
                                         std::function<int64_t()> root);

}  // namespace mw
