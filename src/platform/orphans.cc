#include "platform/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace mw {

Orphans::Orphans(Processes& processes, Clock& clock) : processes_(processes), clock_(clock) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void Orphans::reap() {
  siginfo_t one{};
  if (waitid(P_ALL, 0, &one, WEXITED | WNOHANG | WNOWAIT) != 0 || one.si_pid == 0) {  // nobody is dead
    dead_.clear();
    return;
  }
  const Duration now = clock_.steady();
  std::map<int64_t, Duration> dead;
  for (const ProcessInfo& process : processes_.all()) {
    if (process.state != 'Z' || process.parent != getpid()) continue;
    const auto known = dead_.find(process.id.pid);
    const Duration since = known == dead_.end() ? now : known->second;
    if (now.ns - since.ns >= kPatience.ns) {
      (void)waitpid(static_cast<pid_t>(process.id.pid), nullptr, WNOHANG);
    } else {
      dead[process.id.pid] = since;
    }
  }
  dead_ = std::move(dead);
}

}  // namespace mw
