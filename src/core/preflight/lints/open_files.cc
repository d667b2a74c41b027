// The limit of open files.
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr double kWanted = 65536;  // files: what vLLM asks for and warns below
constexpr double kLeast = 4096;    // files: less is used up by a single server with some hundred connections

void check_files(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || facts.host.open_files.value_or(kWanted) >= kWanted) return;
  const double limit = *facts.host.open_files, hard = facts.host.open_files_hard.value_or(limit);
  const std::string fix = hard >= kWanted ? "ulimit -n 65536 in front of the command, and in the script that starts it"
                                          : "raise the hard limit first: LimitNOFILE=65536 in the unit, --ulimit "
                                            "nofile=65536:65536 for Docker, or limits.conf";
  Finding finding =
      finding_at(lint, limit < kLeast ? Level::kError : Level::kWarning, nullptr,
                 cat("a process may have ", format_short(limit, 9), " files open; engines want 65536"), fix);
  finding.on_machine = true;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint open_files;
const Lint open_files = {
    "open-files",
    Level::kError,
    "The limit of open files is low (a warning below 65536, an error below 4096).",
    "Every rollout in flight holds sockets. 'Too many open files' ends an engine in the middle of a run.",
    "vLLM: 'Found ulimit of 32000 and failed to automatically increase'; a prime-rl run of 2026-01 lost 3 hours so",
    check_files};
}  // namespace lints

}  // namespace mw::preflight
