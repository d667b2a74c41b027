// What `run` and `attach` show on a terminal while they watch: the command's output, midwatch's own sentences, and the
// status lines below both.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/requests.h"
#include "ui/cli/verb.h"
#include "ui/live/live_screen.h"
#include "ui/live/live_terminal.h"

namespace mw {

/// Nothing here waits for the terminal, except for output() where a lot waits to be shown, and for close(). Status
/// lines that it does not take at once are dropped. Everything that goes to the terminal meanwhile must come through
/// here.
class LiveDisplay {
 public:
  /// nullptr where the console has no terminal for it. `watched` is what a person calls the run.
  static std::unique_ptr<LiveDisplay> make(const Console& console, std::string watched);
  ~LiveDisplay();
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  /// What the command writes.
  void output(std::string_view bytes);
  /// Everything so far is on the terminal, which takes more.
  bool takes_output();
  /// Whole lines of midwatch's own, already escaped.
  void say(std::string_view lines);
  void show(const State& state, const LiveFacts& facts);
  /// Takes the status lines away, and writes what still waits. A second call does nothing.
  void close();

 private:
  LiveDisplay(const Console& console, std::string watched);
  void put(const std::string& bytes);
  bool flush(int patience_ms);
  void note_suspension();

  const Console& console_;
  LiveTerminal& terminal_;
  const std::string watched_;
  LiveScreen screen_;
  std::string pending_;  ///< bytes that the terminal did not take yet; everything else comes after them
  bool gone_ = false, closed_ = false;
};

}  // namespace mw
