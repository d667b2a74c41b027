#include "act/supervise/supervised_components.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "act/supervise/seal.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kFolder = "components", kHoldsFile = "holds-trainer";
constexpr Duration kPatience = Duration::millis(500);
constexpr int kLastTurns = 400;  // of 50 ms, for what is ended with the run

}  // namespace

Result<std::unique_ptr<SupervisedComponents>> SupervisedComponents::open(const ComponentDoors& doors, Watch& watch,
                                                                         std::vector<ComponentSpec> specs,
                                                                         std::string folder, std::string nonce) {
  std::unique_ptr<SupervisedComponents> held(
      new SupervisedComponents(doors, watch, std::move(folder), std::move(nonce)));
  for (ComponentSpec& spec : specs) {
    std::string place = cat(held->folder_, "/", kFolder, "/", spec.name);
    auto one = SupervisedComponent::open(doors, std::move(spec), std::move(place));
    if (!one.ok()) return one.error();
    held->all_.push_back(std::move(*one));
  }
  const auto holds = seal_of(doors.disk, cat(held->folder_, "/", kFolder, "/", kHoldsFile), held->nonce_);
  if (!holds.ok()) return holds.error();
  held->holds_ = *holds == Seal::kOurs;
  return held;
}

bool SupervisedComponents::ready() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->ready(); });
}

std::vector<std::pair<ProcessId, ProcessId>> SupervisedComponents::processes() const {
  std::vector<std::pair<ProcessId, ProcessId>> all;
  for (const auto& one : all_) all.push_back(one->processes());
  return all;
}

int64_t SupervisedComponents::pid_of(const std::string& name) const {
  for (const auto& one : all_) {
    if (one->spec().name == name) return one->pid();
  }
  return -1;
}

/// The trainer is held still while one of them is down, unless a person holds it anyway. Which of the two it was is on
/// disk before it is done.
Result<void> SupervisedComponents::hold_trainer() {
  const std::string file = cat(folder_, "/", kFolder, "/", kHoldsFile);
  const bool should = std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->holds_trainer(); });
  if (should && !holds_ && !supervisor_->paused()) {
    MW_TRY(doors_.write_file(file, seal_text(nonce_, kHoldsFile, doors_.clock.now())));
    holds_ = true;
    return supervisor_->pause();
  }
  if (!should && holds_ && (ready() || stopped_)) {
    MW_TRY(supervisor_->resume());
    MW_TRY(doors_.disk.remove(file));
    holds_ = false;
  }
  return {};
}

std::optional<Duration> SupervisedComponents::turn(const State& state, bool, EventWriter& writer) {
  for (const auto& one : all_) {
    const auto done = one->turn(state, true, writer);
    if (!done.ok() && done.error().what != trouble_) doors_.say(trouble_ = done.error().what);
    watch_.add(one->record_folder());
    if (!one->gave_up() || stopped_) continue;
    stopped_ = true;
    doors_.say(cat("the run cannot go on without component ", one->spec().name));
    if (const auto stop = supervisor_->stop(false); !stop.ok()) doors_.say(stop.error().what);
  }
  if (const auto held = hold_trainer(); !held.ok() && held.error().what != trouble_) {
    doors_.say(trouble_ = held.error().what);
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
