// The machine's clock.
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr double kTolerated = 300;  // seconds: what object stores and TLS still accept

void check_clock(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const double behind = facts.host.clock_behind_s.value_or(0);
  if (!facts.host.is_here || behind < kTolerated) return;
  Finding finding = finding_at(lint, Level::kWarning, nullptr,
                               cat("the clock is behind by ", format_duration(Duration::seconds(behind)),
                                   " or more: files that the command reads were written later than now"),
                               "set the clock (chronyc makestep, timedatectl set-ntp true)");
  finding.on_machine = true;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint clock;
const Lint clock = {"clock",
                    Level::kWarning,
                    "The machine's clock is behind what was written already.",
                    "Certificates are refused, uploads are rejected (RequestTimeTooSkewed after 15 minutes), and logs "
                    "of machines do not fit together.",
                    "AWS Signature Version 4; RFC 5280",
                    check_clock};
}  // namespace lints

}  // namespace mw::preflight
