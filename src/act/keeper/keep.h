// The keeper: a small process between midwatch and the command, so that midwatch can be killed, crash or be upgraded
// while the command runs on. It starts the command, captures its output, and records how it ended.
#pragma once

#include <string>

#include "base/result.h"
#include "platform/process.h"

namespace mw {

/// As argv[1] it makes the program run as a keeper, whose folder is the working directory.
inline constexpr const char* kKeepWord = "keep";

/// Starts a keeper for `folder`, which holds a launch file, as a process of its own session whose parent is not this
/// process: `program` is midwatch itself ("/proc/self/exe"). Returns when the keeper runs; its record says whether the
/// command started and how it ended.
Result<void> start_keeper(const std::string& folder, const std::string& program);

/// The main function of the keeper process, whose working directory is its folder; returns the exit status. When the
/// record shows a live command (its keeper was killed) the new keeper takes over: it reads the same pipe and watches
/// the command, which is not its child, so that wait(2) does not report its end.
///
/// The command gets a session and process group of its own, the keeper's environment with the launch file's on top, and
/// no stdin. Its stdout and stderr are one pipe with a name, which the command holds open at both ends: it does not
/// break when a keeper is killed. Orphans of the command become the keeper's children; it stays until all are gone.
int keep();

}  // namespace mw
