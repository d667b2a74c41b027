#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "act/keeper/keep.h"
#include "app/posix_terminal.h"
#include "app/services.h"
#include "base/numbers.h"
#include "base/text.h"
#include "ui/cli/verb.h"

namespace {

/// Does the terminal's locale know more than ASCII? Where none is set, terminals of today do.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return mw::contains_folded(value, "utf-8") || mw::contains_folded(value, "utf8");
  }
  return true;
}

/// Where one of the three standard files is closed, the next file that is opened would take its number, and what is
/// said would be written into a journal: something in its place that fails as the closed one does.
void fill_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0) (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == mw::kKeepWord) return mw::keep();
  fill_standard_files();
  mw::Console console;
  console.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  console.err_is_terminal = isatty(STDERR_FILENO) == 1;
  console.in_is_terminal = isatty(STDIN_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  console.colour = console.out_is_terminal && !dumb && (no_colour == nullptr || *no_colour == '\0');
  console.unicode = !console.out_is_terminal || speaks_utf8();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) console.width = size.ws_col;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const auto given = mw::parse_int(columns);
    if (given && *given > 0 && *given < 10'000) console.width = static_cast<int>(*given);
  }
  console.build = mw::kBuildInfo;
  const auto terminal = mw::make_posix_terminal();
  console.live = terminal.get();
  // Never destroyed: the process ends, and to free what it knows piece by piece takes a part of its time.
  static auto& services = *new mw::DaemonServices;
  return mw::run_command(argc, argv, mw::all_verbs(), services, console);
}
