#include "core/idle_line.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace mw {

bool is_idle_line(std::string_view text, const Knowledge& knowledge) {
  // in lower case, as contains_folded() wants them
  constexpr std::array<std::string_view, 6> kSigns = {"get /health", "get /metrics",   "get /ping",
                                                      "get /readyz", "get /v1/models", "heartbeat"};
  const auto shows = [text](std::string_view sign) { return contains_folded(text, sign); };
  return std::any_of(kSigns.begin(), kSigns.end(), shows) ||
         std::any_of(knowledge.engines.begin(), knowledge.engines.end(), [&shows](const Engine& engine) {
           return std::any_of(engine.idle.begin(), engine.idle.end(), shows);
         });
}

}  // namespace mw
