// All components of a run that midwatch starts itself, beside the watch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/supervise/supervised_component.h"
#include "act/supervise/supervisor.h"
#include "core/task.h"
#include "platform/doors.h"
#include "platform/watch.h"

namespace mw {

class SupervisedComponents final : public Task {
 public:
  /// `folder`: of the run. Components of it that were begun before are found again.
  static Result<std::unique_ptr<SupervisedComponents>> open(const ComponentDoors& doors, Watch& watch,
                                                            std::vector<ComponentSpec> specs, std::string folder);
  /// Before the first turn: whose trainer is paused while one of them is down.
  void serve(Supervisor& supervisor) { supervisor_ = &supervisor; }

  /// None of them is killed for a failure while `looked_at` says so of its process.
  void spare_while(const std::function<bool(int64_t pid)>& looked_at) {
    for (const auto& one : all_) one->spare_while(looked_at);
  }

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  /// The run is over: they are ended.
  void over(const State& state, EventWriter& writer) override;

  /// All of them work, so that an attempt may begin.
  bool ready() const;
  /// Of each its keeper and itself.
  std::vector<std::pair<ProcessId, ProcessId>> processes() const;
  /// The process of the one called so, which may be asked at its address: 0 while there is none, or another program
  /// answers there; -1 when there is none of that name.
  int64_t asked_pid_of(const std::string& name) const;

 private:
  SupervisedComponents(const ComponentDoors& doors, Watch& watch, std::string folder)
      : doors_(doors), watch_(watch), folder_(std::move(folder)) {}
  Result<void> pause_trainer(const State& state, EventWriter& writer);

  ComponentDoors doors_;
  Watch& watch_;
  std::string folder_;
  Supervisor* supervisor_ = nullptr;
  std::vector<std::unique_ptr<SupervisedComponent>> all_;
  bool stopped_ = false;
  bool pause_requested_ = false;  ///< for what is down now: who resumes the trainer all the same means it
  std::string trouble_;
};

}  // namespace mw
