#include "core/idle_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

bool is_idle_line(std::string_view text) {
  // in lower case, as contains_folded() wants them
  constexpr std::array<std::string_view, 9> kSigns = {"get /health",         "get /metrics",   "get /ping",
                                                      "get /readyz",         "get /v1/models", "heartbeat",
                                                      "get /get_model_info",
                                                      "running: 0 reqs",    // vLLM's statistics
                                                      "#running-req: 0,"};  // SGLang's
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [text](std::string_view sign) { return contains_folded(text, sign); });
}

}  // namespace mw
