// The terminal on which a live view is drawn, as far as that needs it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ui/live/live_screen.h"

namespace mw {

class LiveTerminal {
 public:
  virtual ~LiveTerminal() = default;
  virtual ScreenSize size() = 0;
  /// Writes what the terminal takes now, without waiting: how many bytes; 0 where it takes nothing at the moment (a
  /// person stopped it by Ctrl-S). nullopt: it is gone.
  virtual std::optional<size_t> write(std::string_view bytes) = 0;
  /// Waits until it takes something, for so long at most.
  virtual void wait(int milliseconds) = 0;
  /// This process is the one that the terminal's user works with: not suspended into the background.
  virtual bool foreground() = 0;
  /// From now on until end(): what is written first when the user suspends midwatch (Ctrl-Z).
  virtual void on_suspend(std::string_view erasure) = 0;
  /// Was it suspended since this was last asked?
  virtual bool resumed() = 0;
  /// Suspending is again what it was before on_suspend().
  virtual void end() = 0;
};

}  // namespace mw
