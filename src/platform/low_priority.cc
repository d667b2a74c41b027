#include "platform/low_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mw {

void lower_own_priority() {
  constexpr int kProcess = 1, kIdleClass = 3, kClassShift = 13;  // ioprio_set(2) has no header
  // On Linux both are a thread's own; 0 is the calling one.
  (void)::setpriority(PRIO_PROCESS, 0, 19);
  (void)::syscall(SYS_ioprio_set, kProcess, 0, kIdleClass << kClassShift);
}

}  // namespace mw
