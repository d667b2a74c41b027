// The command's own program.
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

void check_program(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || facts.command.empty() || facts.host.program_found.value_or(true)) return;
  Finding finding = finding_at(lint, Level::kError, nullptr, cat(facts.command.front(), " is no program in PATH"),
                               cat("install ", facts.command.front(), ", or add its folder to PATH"));
  finding.place = facts.command_place;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint program_missing;
const Lint program_missing = {"program-missing",
                              Level::kError,
                              "The program that starts the trainer is not installed.",
                              "The command ends at once with status 127.",
                              "POSIX sh; the readiness check of a prime-rl project (uv in PATH)",
                              check_program};
}  // namespace lints

}  // namespace mw::preflight
