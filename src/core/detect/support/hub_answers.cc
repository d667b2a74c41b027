#include "core/detect/support/hub_answers.h"

#include <array>

#include "base/text.h"

namespace mw::detect {
namespace {

struct Answer {
  std::string_view words;  // of the folded message, "" for any; a number of the request may hold any digits
  ExceptionClass is;
};

// First one that fits wins. Statuses by RFC 9110, 15, as requests and httpx write them.
constexpr std::array kAnswers = {
    Answer{"server error", {"network", "hf-hub-unreachable", false}},
    Answer{"over the limit", {"resource-limit", "hf-upload-too-large", false}},
    Answer{"413 ", {"resource-limit", "hf-upload-too-large", false}},
    Answer{"storage limit", {"resource-limit", "hf-storage-full", false}},
    Answer{"storage patterns", {"resource-limit", "hf-storage-full", false}},
    Answer{"gated", {"credentials", "hf-gated-repo", false}},
    Answer{"402 ", {"resource-limit", "hf-payment-required", false}},
    Answer{"409 ", {"config-error", "hf-commit-conflict", false}},
    Answer{"412 ", {"config-error", "hf-commit-conflict", false}},
    Answer{"403 ", {"credentials", "hf-token-refused", false}},
    Answer{"401 ", {"credentials", "hf-token-refused", false}},
    Answer{"404 ", {"credentials", "hf-repo-not-found", false}},
    Answer{"408 ", {"network", "hf-hub-unreachable", false}},
    Answer{"429 ", {"network", "hf-rate-limit", false}},
    Answer{"client error", {"config-error", "hf-request-refused", false}},
    Answer{"bad request", {"config-error", "hf-request-refused", false}},
    Answer{"", {"network", "hf-hub-unreachable", false}},
};

}  // namespace

std::optional<ExceptionClass> hub_answer(std::string_view exception, std::string_view message) {
  const std::string_view bare = bare_exception(exception);
  const bool refused = bare == "BadRequestError" && exception.starts_with("huggingface_hub.");
  if (bare != "HfHubHTTPError" && !refused) return std::nullopt;
  for (const Answer& answer : kAnswers) {
    if (answer.words.empty() || contains_folded(message, answer.words)) return answer.is;
  }
  return std::nullopt;
}

}  // namespace mw::detect
