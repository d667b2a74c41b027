#include "ui/cli/take_duration.h"

#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"

namespace mw {

Result<Duration> take_duration(const Args& args, std::string_view name, Duration least) {
  constexpr Duration kDay = Duration::seconds(86400);
  const std::string text = args.get(name);
  const auto number = parse_double(text);
  const Result<Duration> said = number ? Duration::seconds(*number) : parse_duration(text);
  const bool fits = said.ok() && (!number || (*number >= 0 && *number <= 86400)) && *said >= least && *said <= kDay;
  if (fits) return *said;
  return Error{Error::Code::kInvalid, cat("--", name, " is a duration of at most a day, not '", text, "'"),
               "Say 10 (seconds), 10s, 5m or 1h 30m."};
}

}  // namespace mw
