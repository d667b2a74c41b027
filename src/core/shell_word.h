// What a shell says when a command of its script was killed.
#pragma once

#include <string_view>

namespace mw {

/// "run.sh: line 12: 4711 Segmentation fault  (core dumped) python train.py": the trainer that the script had started
/// is dead, and steps that come then are those of another one. False of helpers, whose death no trainer notices.
bool shell_lost_trainer(std::string_view text);

}  // namespace mw
