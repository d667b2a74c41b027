// Watches the components of a run: polls the processes of the supervised command, asks its servers whether they work,
// and records in the journal how they are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/http.h"
#include "platform/system.h"
#include "sense/host/host_ledger.h"
#include "sense/processes/probe.h"
#include "sense/processes/rate.h"
#include "sense/processes/rhythm.h"
#include "sense/processes/same_answer.h"
#include "sense/processes/server_wait.h"
#include "sense/processes/tree_watch.h"

namespace mw {

class ComponentWatch final : public Task {
 public:
  static constexpr size_t kAsked = 16;  ///< servers that are asked at most; those that were declared come first

  /// The processes that the command lives in, as the supervisor knows them; keeper 0 while there is none.
  struct RunProcesses {
    int64_t keeper = 0, command = 0;
  };
  struct Scope {
    std::unique_ptr<System> system;
    std::shared_ptr<Http> http;
    std::vector<components::Target> declared;
    std::function<RunProcesses()> processes;
    /// Of a declared server that midwatch itself supervises: its process, 0 while there is none; -1 of all others.
    std::function<int64_t(const std::string& name)> process_of = [](const std::string&) { return int64_t{-1}; };
    std::function<void(const std::string& sentence)> say = [](const std::string&) {};
    /// Of TreeWatch.
    std::function<components::TreeWatch::EndOf(const ProcessId&)> hold = nullptr;
  };
  ComponentWatch(Clock& clock, const Knowledge& knowledge, Scope scope);
  ComponentWatch(const ComponentWatch&) = delete;
  ComponentWatch& operator=(const ComponentWatch&) = delete;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  /// The servers elsewhere that the next attempt needs answer; ServerWait::may_begin().
  bool servers_answer(const State& state, EventWriter& writer) { return wait_.may_begin(state, writer); }

 private:
  struct Asked {
    components::Target target;
    components::ProbeJudge judge;
    components::SameAnswer same;
    components::Rate tokens;
    BackgroundCall<components::Answer> call;
    bool stale = false;  ///< what the call brings is of an attempt that is over
    Duration due;
  };
  ServerWait::Scope waiting(const Knowledge& knowledge);
  components::Run run_of(const State& state) const;
  void begin_anew(Duration now);
  void find_servers(Duration now);
  bool follow_life(Asked& one, Duration now) const;
  void ask_servers(const State& state, bool idle, Duration now, EventWriter& writer);
  void take(const State& state, Asked& one, const components::Answer& answer, bool idle, Duration now,
            EventWriter& writer);
  void note_figures(Asked& one, const components::EngineFigures& figures, Duration now, EventWriter& writer);

  Clock& clock_;
  Scope scope_;
  components::Rhythm rhythm_;
  components::TreeWatch tree_;
  ServerWait wait_;
  std::vector<std::unique_ptr<Asked>> asked_;
  HostLedger ledger_;
  int64_t keeper_ = 0;
  Duration due_;
};

}  // namespace mw
