// Which service a logged error is of: a judge, a reward model, a sandbox, an environment's server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/state.h"

namespace mw::detect {

struct Service {
  std::string_view word, name, cause;
};

/// nullptr: the text says of none that it fails.
const Service* service_of(std::string_view text);
/// Hubs, trackers and package stores: nobody's reward hangs on them.
bool is_store(std::string_view text);

/// The error of such a service that the log repeats since `onset` (it began within `reach` steps of it), at least at
/// every second of `records` records. Of messages that come again and again only every doubling is logged.
struct FailingService {
  const Service* service = nullptr;  ///< nullptr: there is none
  uint64_t times = 0;
};
FailingService failing_service(const State& state, const Point& onset, double reach, size_t records);

}  // namespace mw::detect
