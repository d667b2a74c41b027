// Processes of others in the world of a supervised command.
#include "sim/supervised_world.h"

namespace mw::sim {

/// Numbers that are free again are given to others, whose sessions may outlive those who began them.
void SupervisedWorld::reuse_numbers() {
  if (!attempt_ || !attempt_->ended || !dice.chance(reuse_chance_)) return;
  const int64_t pid = dice.chance(0.7) ? attempt_->child.pid : attempt_->keeper.id.pid;
  for (const auto& [number, one] : processes.table) {
    if (number == pid || one.info.session == pid || one.info.parent == pid) return;
  }
  const ProcessId leader = processes.add_as(pid, 1, 0).info.id;
  const ProcessId other = processes.add(pid, pid).info.id;
  strangers_.insert(pid);
  strangers_.insert(other.pid);
  if (dice.chance(0.7)) {
    strangers_.erase(pid);
    processes.gone(leader);
  }
}

}  // namespace mw::sim
