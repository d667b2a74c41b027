#include "core/idle_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

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

bool is_idle(const event::Measured& measured) {
  const auto of_engine = [](const Reading& reading) {
    return reading.signal().empty() || reading.signal().starts_with("engine.");
  };
  const auto nothing_runs = [](const Reading& reading) {
    return reading.signal() == "engine.running" && reading.value == 0;
  };
  const std::vector<Reading>& all = measured.readings;
  return std::all_of(all.begin(), all.end(), of_engine) && std::any_of(all.begin(), all.end(), nothing_runs);
}

}  // namespace mw
