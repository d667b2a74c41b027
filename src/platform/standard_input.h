// What this process was given as its standard input, for a command that is started later, and maybe more than once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"

namespace mw {

/// All of it may be kept in memory and on a disk.
inline constexpr size_t kMostInput = size_t{64} << 20;

struct GivenInput {
  std::string text;
  /// A pipe that somebody still writes to holds more than `text` (which is empty then), and was left alone.
  bool open = false;
};

/// Reads the input `file` without taking anything from it: of a file all from its present place on, of a pipe what its
/// writers left in it when they ended, for which it waits a moment; of anything else (a terminal, a socket, a device)
/// nothing. Where the input is `needed`, a pipe or a socket is read to its end however long that takes, and a terminal
/// is an error; `stopped` (may be empty) says, now and then, that it shall wait no more. kUnsupported: it is too much.
Result<GivenInput> given_input(int file, bool needed, const std::function<bool()>& stopped = nullptr);

}  // namespace mw
