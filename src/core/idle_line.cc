#include "core/idle_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

bool is_idle_line(std::string_view text) {
  constexpr std::array<std::string_view, 9> kSigns = {"GET /health",         "GET /metrics",   "GET /ping",
                                                      "GET /readyz",         "GET /v1/models", "heartbeat",
                                                      "GET /get_model_info",
                                                      "Running: 0 reqs",    // vLLM's statistics
                                                      "#running-req: 0,"};  // SGLang's
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [text](std::string_view sign) { return contains_folded(text, sign); });
}

}  // namespace mw
