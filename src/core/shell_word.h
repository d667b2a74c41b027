// What a shell or a launcher says when what it had started is dead.
#pragma once

#include <string_view>

namespace mw {

/// "run.sh: line 12: 4711 Segmentation fault  (core dumped) python train.py": the trainer that the script had started
/// is dead, and steps that come then are those of another one. False of helpers, whose death no trainer notices.
bool shell_lost_trainer(std::string_view text);
/// "go.sh: line 1: 2554 Killed                  eval": a shell says that a program was killed, and which.
bool shell_says_killed(std::string_view text);

/// "failed (exitcode: 1) local_rank: 0 (pid: 4711) of binary: ...": torchrun has ended all workers of its group. Where
/// it starts them again (--max-restarts), steps that come then are those of another attempt.
bool launcher_lost_workers(std::string_view text);

}  // namespace mw
