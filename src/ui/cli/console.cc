#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

int failed_with = 0;  // errno of the first write to standard output that failed; 0: none did

void keep_failure() {
  if (failed_with == 0) failed_with = errno;
}

}  // namespace

void Console::out(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) keep_failure();
}

void Console::err(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), stderr); }

void Console::flush() const {
  if (std::fflush(stdout) != 0) keep_failure();
}

Exit end_output(const Console& console, Exit code, bool status_is_commands) {
  console.flush();
  const int copy = ::dup(STDOUT_FILENO);  // a full NFS may say so only when a file of it is closed
  if (copy >= 0 && ::close(copy) != 0) keep_failure();
  if (failed_with == 0 || failed_with == EPIPE) return code;  // EPIPE: the reader has what it wanted
  console.err(cat("midwatch: the output could not be written: ", std::strerror(failed_with), "\n"));
  const bool has_result = code == Exit::kOk || code == Exit::kPartial;
  return has_result && !status_is_commands ? Exit::kDiskFull : code;
}

}  // namespace mw
