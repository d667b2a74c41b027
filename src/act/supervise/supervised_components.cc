#include "act/supervise/supervised_components.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "core/supervise/client.h"

namespace mw {
namespace {

constexpr std::string_view kFolder = "components";
constexpr Duration kPatience = Duration::millis(500);
constexpr int kLastTurns = 400;  // of 50 ms, for what is ended with the run

}  // namespace

Result<std::unique_ptr<SupervisedComponents>> SupervisedComponents::open(const ComponentDoors& doors, Watch& watch,
                                                                         std::vector<ComponentSpec> specs,
                                                                         std::string folder) {
  std::unique_ptr<SupervisedComponents> components(new SupervisedComponents(doors, watch, std::move(folder)));
  for (ComponentSpec& spec : specs) {
    std::string place = cat(components->folder_, "/", kFolder, "/", spec.name);
    auto one = SupervisedComponent::open(doors, std::move(spec), std::move(place));
    if (!one.ok()) return one.error();
    components->all_.push_back(std::move(*one));
  }
  return components;
}

bool SupervisedComponents::ready() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->ready(); });
}

std::vector<std::pair<ProcessId, ProcessId>> SupervisedComponents::processes() const {
  std::vector<std::pair<ProcessId, ProcessId>> all;
  for (const auto& one : all_) all.push_back(one->processes());
  return all;
}

int64_t SupervisedComponents::asked_pid_of(const std::string& name) const {
  for (const auto& one : all_) {
    if (one->spec().name == name) return one->is_another_there() ? 0 : one->pid();
  }
  return -1;
}

/// The trainer is paused while one of them is down, unless a person pauses it anyway, or resumes it meanwhile.
Result<void> SupervisedComponents::pause_trainer(const State& state, EventWriter& writer) {
  const Supervision& known = state.supervision;
  // Where the command only follows the training, to pause it would pause nothing.
  const bool elsewhere = trains_elsewhere(state, supervisor_->spec().command);
  const bool should =
      !elsewhere && std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->pauses_trainer(); });
  pause_requested_ = pause_requested_ && should;
  if (should && !known.pause && !pause_requested_) {
    MW_TRY(writer.record(event::Requested{"pause", std::string(kByComponent)}));
    pause_requested_ = true;
    return {};
  }
  const bool ours = known.pause && known.pause_by == kByComponent;
  const bool waits_in_vain = stopped_ || supervisor_->spec().dry;  // nobody starts anew what it waits for
  if (!should && ours && (ready() || waits_in_vain || elsewhere)) {
    return writer.record(event::Requested{"resume", std::string(kByComponent)});
  }
  return {};
}

std::optional<Duration> SupervisedComponents::turn(const State& state, bool, EventWriter& writer) {
  for (const auto& one : all_) {
    const auto done = one->turn(state, true, writer);
    if (!done.ok() && done.error().what != trouble_) doors_.say(trouble_ = done.error().what);
    watch_.add(one->record_folder());
    // Without it no attempt begins. One that runs is left alone where midwatch only watches.
    const bool lost = one->gave_up() || (one->is_left_down() && supervisor_->attempt() == 0);
    if (!lost || stopped_) continue;
    stopped_ = true;
    doors_.say(cat("the run cannot go on without component ", one->spec().name));
    supervisor_->stop_for(one->spec().name, one->why_gone());
  }
  if (const auto done = pause_trainer(state, writer); !done.ok() && done.error().what != trouble_) {
    doors_.say(trouble_ = done.error().what);
  }
  return kPatience;
}

void SupervisedComponents::over(const State& state, EventWriter& writer) {
  for (int i = 0; i < kLastTurns; ++i) {
    bool left = false;
    for (const auto& one : all_) {
      (void)one->turn(state, false, writer).ok();
      left = left || !one->over();
    }
    if (!left) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace mw
