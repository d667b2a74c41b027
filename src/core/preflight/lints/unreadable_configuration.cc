// A configuration file that cannot be read.
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

void check_unread(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  for (const Unread& unread : facts.unread) {
    Finding finding = finding_at(lint, unread.fatal ? Level::kError : Level::kNote, nullptr, unread.what,
                                 "mend the file, or name the right one");
    finding.place = unread.place;
    if (!unread.fatal) finding.fix = "nothing has to be mended; what stands there is not checked";
    out.push_back(std::move(finding));
  }
  if (!facts.settings.truncated()) return;
  out.push_back(finding_at(lint, Level::kNote, nullptr,
                           cat("only the first ", Settings::kLimit, " settings are checked"),
                           "check smaller files one by one"));
}

}  // namespace

namespace lints {
extern const Lint unreadable_configuration;
const Lint unreadable_configuration = {
    "unreadable-configuration",
    Level::kError,
    "A configuration file that the command names is missing or has a mistake.",
    "The framework reads the same file and ends with the same mistake, after the machine was paid for.",
    "the file's format (TOML 1.0.0, YAML 1.1 as PyYAML and OmegaConf read it)",
    check_unread};
}  // namespace lints

}  // namespace mw::preflight
