// The command's own program, and what it is given to run.
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

void check_program(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || facts.command.empty()) return;
  const bool found = facts.host.program_found.value_or(true);
  if (found && facts.cannot_start.empty()) return;
  const std::string& name = facts.command.front();
  Finding finding = found ? finding_at(lint, Level::kError, nullptr, facts.cannot_start, facts.start_fix)
                          : finding_at(lint, Level::kError, nullptr, cat(name, " is no program in PATH"),
                                       cat("install ", name, ", or add its folder to PATH"));
  finding.place = facts.command_place;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint program_missing;
const Lint program_missing = {
    "program-missing",
    Level::kError,
    "The program that starts the trainer is not installed or may not be executed, or the script or "
    "module that it is given is not there.",
    "The command ends at once: with status 127 or 126, Python's with 2 or 1.",
    "POSIX sh; the readiness check of a prime-rl project (uv in PATH)",
    check_program};
}  // namespace lints

}  // namespace mw::preflight
