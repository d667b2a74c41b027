// Evidence of a run that is stuck, beside the watch: when a stall, a silence or a failing component is reported, what
// the processes of the run do at that moment goes into the journal and, in full, into a file of the run's folder.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "sense/processes/process_snapshot.h"
#include "sense/processes/stacks.h"

namespace mw {

inline constexpr std::string_view kEvidenceFolder = "evidence";  ///< in the run's folder

struct EvidenceScope {
  /// The processes that the command lives in; root 0 while there is none.
  struct RunProcesses {
    int64_t root = 0, session = 0;
    bool root_too = false;  ///< the root is the command itself, not its keeper
  };
  std::shared_ptr<System> system;
  std::function<RunProcesses()> processes;
  std::string folder;                   ///< the run's
  const KnownSecrets* known = nullptr;  ///< values that no evidence may hold
  bool stacks = true;                   ///< programs may be asked for stacks, for which some stop a process
  components::RunProgram run_program = mw::run_program;  ///< called on a thread of its own
  Duration between = Duration::seconds(1);               ///< two snapshots that show how much a process works
};

class EvidenceTaker final : public Task {
 public:
  static constexpr Duration kAtOnce = Duration::millis(300);    ///< that the first snapshot may hold up the watch
  static constexpr Duration kTogether = Duration::seconds(30);  ///< incidents within it have one cause: one snapshot
  static constexpr Duration kSpared = Duration::seconds(5);     ///< that an end or a restart waits for stacks
  static constexpr Duration kStacksEvery = Duration::seconds(300);
  static constexpr Duration kLastLimit =
      Duration::seconds(2);             ///< where the watch ends; what is not there by then is left out
  static constexpr size_t kFiles = 60;  ///< kept; older ones go

  EvidenceTaker(Disk& disk, Clock& clock, Processes& processes, EvidenceScope scope)
      : disk_(disk), clock_(clock), processes_(processes), scope_(std::move(scope)) {}
  EvidenceTaker(const EvidenceTaker&) = delete;
  EvidenceTaker& operator=(const EvidenceTaker&) = delete;

  /// Stacks are being asked for, of this process or (0) of any; true for kSpared at most.
  bool reads(int64_t pid = 0) const;
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;

 private:
  struct Subject {
    components::ProcessSnapshot snapshot;
    uint32_t action = 0;
    std::string file;  ///< below the run's folder
  };
  /// What came later of one process.
  struct Sequel {
    std::optional<components::ProcessSnapshot> later;
    double seconds = 0;
    components::Stacks stacks;
  };
  using Sequels = std::vector<Sequel>;
  void reattach(const State& state, EventWriter& writer);
  const Incident* next(const State& state);
  components::Suspicion suspicion(const State& state) const;
  void begin(const Incident& incident, const State& state, EventWriter& writer);
  void take_first(const State& state, EventWriter& writer);
  void finish(Sequels sequels, const State& state, EventWriter& writer);
  std::string resume_stopped(const Subject& subject, const Sequel& sequel, const State& state);
  std::string keep(const Subject& subject, const components::Surroundings& around, const Sequel* sequel) const;
  void drop_old_files() const;

  Disk& disk_;
  Clock& clock_;
  Processes& processes_;
  EvidenceScope scope_;
  bool reattached_ = false;
  std::set<uint32_t> taken_;  ///< incidents of which evidence was collected
  Duration last_;             ///< when a snapshot was begun; 0: never
  Duration stacks_due_;       ///< when stacks may be asked for again
  uint32_t incident_ = 0;     ///< of which it is being collected
  bool critical_ = false;     ///< it is
  bool stacks_ = false;       ///< likewise: stacks are asked for
  std::vector<Subject> subjects_;
  std::string tree_;
  BackgroundCall<components::RunSnapshot> first_;
  BackgroundCall<std::unique_ptr<Sequels>> rest_;
};

}  // namespace mw
