// A verb of the program: one file of this folder each. Verbs speak to the rest of the program through Services only.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/exit.h"
#include "api/services.h"
#include "base/result.h"
#include "ui/cli/args.h"
#include "ui/cli/build_info.h"

namespace mw {

class LiveTerminal;

/// The terminal that the output goes to.
struct Console {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool in_is_terminal = false;  ///< a person can be asked
  bool colour = false;
  bool unicode = true;
  int width = 100;
  LiveTerminal* live = nullptr;  ///< where status lines can be redrawn in place; nullptr: nowhere
  BuildInfo build = {MIDWATCH_VERSION, "", "", "", ""};  ///< of the program that speaks

  void out(std::string_view text) const;  ///< what could not be written is known to end_output()
  void err(std::string_view text) const;
  void flush() const;  ///< standard output
};

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  ///< lines for the end of --help
  void (*declare)(ArgSpec& spec);
  Exit (*run)(const Args& args, Services& services, const Console& console);
  bool hidden = false;
  bool takes_command = false;       ///< the words behind "--" are the list "command", untouched
  bool status_is_commands = false;  ///< its exit status is that of the command it runs
};

std::span<const Verb* const> all_verbs();

/// Writes what is left of standard output. When that or an earlier write failed, says so on standard error and returns
/// the code for it in place of one that promises a result; a pipe that nobody reads any more is no failure.
Exit end_output(const Console& console, Exit code, bool status_is_commands);

/// Parses the command line, runs the verb and returns the exit code.
int run_command(int argc, char** argv, std::span<const Verb* const> verbs, Services& services, const Console& console);

/// Prints "midwatch: what\n  hint" to standard error and returns the code that fits.
Exit report_error(const Console& console, const Error& error);

}  // namespace mw
