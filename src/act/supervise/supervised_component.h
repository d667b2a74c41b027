// A component that midwatch starts itself (an engine, a server): started before the trainer, restarted when it dies or
// fails to do its work, ended with the run. It keeps nothing that is not on disk or in the journal, so the next
// midwatch goes on where this one was killed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/keeper/record.h"
#include "act/supervise/process_tree.h"
#include "base/result.h"
#include "core/event_writer.h"
#include "core/state.h"
#include "core/supervise/decide_component.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

struct ComponentSpec {
  std::string name, kind;
  std::vector<std::string> command;
  std::string folder;   ///< working directory of the command
  std::string address;  ///< "" when it is asked nothing: then it is ready when it has lived for a moment
  std::string output;   ///< file that gets its stdout and stderr
  ComponentLimits limits;
  Duration ready_within = Duration::seconds(900);
  Duration grace = Duration::seconds(10);  ///< from asking it to end to killing it
  std::string marker;  ///< by which the processes of its lives are known, with their numbers; "": not
  bool pause = false;  ///< pause the trainer while it is down
  bool dry = false;    ///< it is not started anew: that it would be is said
  bool ends = false;   ///< the trainer cannot go on without: leave its attempt to the circuit breaker
};

struct ComponentDoors {
  Disk& disk;
  Clock& clock;
  Processes& processes;
  std::function<Result<void>(const std::string& folder)> start_keeper;
  std::function<Result<void>(const std::string& path, std::string_view text)> write_file;
  std::function<void(const std::string& sentence)> say;
  /// The sockets that listen at an address, by their inodes: none of one that is not this machine's. May be unset: not
  /// known.
  std::function<std::set<uint64_t>(const std::string& address)> listening = {};
  /// The processes that hold such a socket, as far as they can be seen; likewise.
  std::function<std::set<int64_t>(uint64_t socket)> holders = {};
};

class SupervisedComponent {
 public:
  /// `folder`: of this component, within the run's. Lives of it that were begun before are found again.
  static Result<std::unique_ptr<SupervisedComponent>> open(ComponentDoors doors, ComponentSpec spec,
                                                           std::string folder);

  /// Checks it, and does what is due. `wanted`: the run goes on; else it is ended. What is seen of it goes to the
  /// writer; what the questions to its address showed is in `state`.
  Result<void> turn(const State& state, bool wanted, EventWriter& writer);

  bool ready() const { return ready_; }
  /// It was ready, is not, and the trainer is to be paused meanwhile.
  bool pauses_trainer() const { return spec_.pause && !spec_.dry && was_ready_ && !ready_ && !gave_up_; }
  bool gave_up() const { return gave_up_; }
  /// It failed, and as midwatch only watches, nobody starts it anew.
  bool is_left_down() const { return left_down_; }
  /// In a sentence for people, once it is given up or left down.
  const std::string& why_gone() const { return why_gone_; }
  /// Nothing of it lives.
  bool over() const { return life_ == 0 || (phase_ == Phase::kEnded && !tree_.any_alive()) || gone_unrecorded_; }
  /// Its process; 0 while there is none.
  int64_t pid() const { return phase_ == Phase::kRunning ? kept_.child.pid : 0; }
  /// Nobody listens at its address but who did so before it began, or is older than it: what answers there is another
  /// program.
  bool is_another_there();
  /// Its keeper and itself, whether they live or not.
  std::pair<ProcessId, ProcessId> processes() const { return {kept_.keeper, kept_.child}; }
  /// It is not killed for a failure while `looked_at` says so of its process.
  void spare_while(std::function<bool(int64_t pid)> looked_at) { looked_at_ = std::move(looked_at); }
  /// Where its keeper writes down what becomes of it.
  std::string record_folder() const;
  const ComponentSpec& spec() const { return spec_; }

 private:
  enum class Phase { kNone, kRunning, kEnded };

  SupervisedComponent(ComponentDoors doors, ComponentSpec spec, std::string folder);
  std::string life_folder(int number) const;
  std::string marker(int life) const;
  Result<void> reattach();
  Result<void> begin_life(int number);
  Result<void> note_who_listens(const std::string& folder);
  void look_who_answers();
  bool is_older(int64_t pid) const;
  Result<void> look();
  ComponentLife life_of(const State& state);
  Result<void> carry_out(const ComponentDecision& decision, EventWriter& writer);
  void only_report(const std::string& why, EventWriter& writer);
  void look_whether_ready(const State& state, EventWriter& writer);
  void settle(bool ok, std::string text, EventWriter& writer);
  void take_over_doubts(const State& state);
  void emit(event::ComponentSaw::Health health, std::string text, EventWriter& writer) const;
  void emit_gone(const std::string& why, EventWriter& writer) const;
  const ComponentState* seen(const State& state) const;
  /// The process distinguishes its lives: what was known of the one before says nothing of this one.
  bool is_of_this_life(const ComponentState& component) const { return component.last.pid == kept_.child.pid; }
  Duration since(Duration then) const { return {doors_.clock.steady().ns - then.ns}; }

  ComponentDoors doors_;
  std::function<bool(int64_t pid)> looked_at_;
  ComponentSpec spec_;
  std::string folder_;
  ProcessTree tree_;
  Phase phase_ = Phase::kNone;
  int life_ = 0;
  Kept kept_;
  Duration keeper_from_, begun_, ended_, members_at_;
  std::optional<Duration> ready_since_;
  std::optional<Duration> due_;  ///< when the next life begins; none: it was not decided
  int spent_ = 0;                ///< restarts in a row
  uint32_t action_ = 0;          ///< a restart whose outcome is not recorded yet
  bool ready_ = false, was_ready_ = false, gave_up_ = false, doubts_taken_ = false, left_down_ = false;
  std::string why_gone_;
  std::set<uint64_t> before_;     ///< sockets at its address of who listened before it began, or is older than it
  bool taken_over_ = false;       ///< action_ is of the midwatch before this one
  bool gone_unrecorded_ = false;  ///< nothing of it lives, and its record cannot be read
};

}  // namespace mw
