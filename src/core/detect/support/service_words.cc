#include "core/detect/support/service_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace mw::detect {
namespace {

// In this order: "sandbox of the verifier" is a sandbox.
constexpr std::array kServices = {
    Service{"sandbox", "the sandbox", "sandbox-execution-failed"},
    Service{"judge", "the judge", "judge-api-error"},
    Service{"grader", "the grader", "judge-api-error"},
    Service{"verifier", "the verifier", "judge-api-error"},
    Service{"reward model", "the reward model", "remote-reward-model-down"},
    Service{"reward server", "the reward server", "remote-reward-model-down"},
    Service{"reward service", "the reward service", "remote-reward-model-down"},
    Service{"reward api", "the reward service", "remote-reward-model-down"},
    Service{"remote_rm", "the reward model", "remote-reward-model-down"},  // slime
    Service{"remote rm", "the reward model", "remote-reward-model-down"},  // OpenRLHF
    Service{"scoring server", "the scoring server", "remote-reward-model-down"},
    Service{"scoring service", "the scoring service", "remote-reward-model-down"},
    Service{"code execution", "code execution", "sandbox-execution-failed"},
    Service{"tool server", "the tool server", "env-server-crash-empty-outputs"},
    Service{"env server", "the environment's server", "env-server-crash-empty-outputs"},
    Service{"env error", "the environment", "env-server-crash-empty-outputs"},
    Service{"environment error", "the environment", "env-server-crash-empty-outputs"},
    Service{"environment server", "the environment's server", "env-server-crash-empty-outputs"},
};

bool says_failure(std::string_view text) {
  constexpr std::array<std::string_view, 12> kWords = {"fail",      "error",       "refused",     "timed out",
                                                       "timeout",   "unavailable", "unreachable", "exception",
                                                       "could not", "cannot",      "no response", "exceeded"};
  return std::any_of(kWords.begin(), kWords.end(), [&](auto word) { return contains_folded(text, word); });
}

// What a service that is named by nothing but its address does, by a word of that; the last is any other.
constexpr std::array kAddresses = {
    Service{"exec", "a service that runs code", "sandbox-execution-failed"},
    Service{"run_code", "a service that runs code", "sandbox-execution-failed"},
    Service{"reward", "a service that rewards", "remote-reward-model-down"},
    Service{"score", "a service that rewards", "remote-reward-model-down"},
    Service{"grade", "a service that judges", "judge-api-error"},
    Service{"evaluat", "a service that judges", "judge-api-error"},
    Service{"", "a service over HTTP", "env-server-crash-empty-outputs"},
};

/// Of an error that names only where it called.
const Service* service_at(std::string_view text) {
  // In a message that is counted, an address may be one of the parts that differ.
  const size_t url = std::min({text.find("://"), text.find("with url: /"), text.find("for url '<*>'")});
  if (url == std::string_view::npos || is_store(text)) return nullptr;
  const std::string_view from = text.substr(url), address = from.substr(0, from.find_first_of(" '\")", 12));
  return &*std::find_if(kAddresses.begin(), kAddresses.end(), [address](const Service& one) {
    return one.word.empty() || contains_folded(address, one.word);
  });
}

}  // namespace

bool is_store(std::string_view text) {
  constexpr std::array<std::string_view, 8> kHosts = {"huggingface", "hf.co",  "hf-mirror.com", "modelscope",
                                                      "wandb",       "mlflow", "pypi",          "github"};
  return std::any_of(kHosts.begin(), kHosts.end(), [&](auto host) { return contains_folded(text, host); });
}

const Service* service_of(std::string_view text) {
  if (!says_failure(text)) return nullptr;
  const auto found = std::find_if(kServices.begin(), kServices.end(),
                                  [text](const Service& one) { return contains_folded(text, one.word); });
  return found == kServices.end() ? service_at(text) : &*found;
}

FailingService failing_service(const State& state, const Point& onset, double reach, size_t records) {
  FailingService found;
  for (const TemplateState& message : state.templates) {
    const Moment& first = message.first;
    if (message.level < event::Logged::Level::kWarning || first.attempt != onset.attempt || first.step == kNoStep)
      continue;
    const bool with_it = std::abs(static_cast<double>(first.step - onset.step)) <= reach;
    if (!with_it || 2 * message.count < records || message.count <= found.times) continue;
    if (const Service* const service = service_of(message.text)) found = {service, message.count};
  }
  return found;
}

}  // namespace mw::detect
