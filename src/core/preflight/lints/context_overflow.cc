// Response and prompt together must fit into what the engine takes.
#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kLeastPrompt = 128;  // tokens: a chat template, a system prompt and one sentence
constexpr double kUsualPrompt = 512;  // tokens: what a prompt with tools takes at the least (1,297 in the report)

std::string tokens(double number) { return format_short(number, 9); }

struct Lengths {
  Value response, prompt, context, rollout;
  double limit = 0;  ///< of the engine, or of the model where the engine takes that
  std::string limit_name;
};

Lengths lengths_of(const Facts& facts) {
  Lengths out{value_of(facts, "response_length"),
              value_of(facts, "prompt_length"),
              value_of(facts, "engine_context"),
              value_of(facts, "rollout_length"),
              0,
              ""};
  if (out.context.number.value_or(0) > 0) {
    out.limit = *out.context.number;
    out.limit_name = out.context.key;
  } else if (facts.model.has_value() && facts.model->context > 0) {
    out.limit = facts.model->context;
    out.limit_name = cat("what ", facts.model->name, " was made for");
  }
  return out;
}

/// What the engine would refuse.
void check_engine(const Lengths& lengths, const Lint& lint, std::vector<Finding>& out) {
  const double response = lengths.response.number.value_or(0), prompt = lengths.prompt.number.value_or(0);
  if (lengths.limit <= 0 || response <= 0 || (!lengths.response.set && !lengths.context.set && !lengths.prompt.set))
    return;
  const double room = lengths.limit - response;
  const Setting* at = lengths.response.setting != nullptr ? lengths.response.setting : lengths.context.setting;
  const std::string limit = cat(lengths.limit_name, " = ", tokens(lengths.limit));
  const std::string fix = cat("lower ", lengths.response.key, ", or raise ",
                              lengths.context.key.empty() ? "the engine's context" : lengths.context.key);
  if (prompt > 0 && prompt > room) {
    out.push_back(finding_at(lint, Level::kError, at,
                             cat(lengths.response.key, " = ", tokens(response), " and prompts of up to ",
                                 tokens(prompt), " tokens (", lengths.prompt.key, ") do not fit into ", limit),
                             fix));
  } else if (room < kLeastPrompt) {
    out.push_back(finding_at(lint, Level::kError, at,
                             cat(lengths.response.key, " = ", tokens(response), " leaves ", tokens(std::max(room, 0.0)),
                                 " tokens for the prompt in ", limit),
                             fix));
  } else if (prompt <= 0 && room < kUsualPrompt) {
    out.push_back(finding_at(lint, Level::kWarning, at,
                             cat(lengths.response.key, " = ", tokens(response), " leaves only ", tokens(room),
                                 " tokens for the prompt in ", limit),
                             fix));
  }
}

/// What is cut away before it is trained. Of a response that may be as long as all that is trained only those that
/// reach it lose something, by the length of their prompt: worth knowing, and what examples of frameworks do.
void check_rollout(const Lengths& lengths, const Lint& lint, std::vector<Finding>& out) {
  const double response = lengths.response.number.value_or(0), rollout = lengths.rollout.number.value_or(0);
  if (!lengths.response.set || rollout <= 0 || response < rollout) return;
  const bool equal = response == rollout;
  Finding finding =
      finding_at(lint, equal ? Level::kNote : Level::kWarning, lengths.response.setting,
                 cat(lengths.response.key, " = ", tokens(response), equal ? " is all of " : " is more than ",
                     lengths.rollout.key, " = ", tokens(rollout), ", what is trained of a rollout",
                     equal ? ": the end of the longest responses is cut off by the length of their prompt" : ""),
                 cat("lower ", lengths.response.key, ", or raise ", lengths.rollout.key));
  finding.why = "What is written past that length costs GPU time and is cut away before it is trained.";
  out.push_back(std::move(finding));
}

void check_lengths(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const Lengths lengths = lengths_of(facts);
  const size_t before = out.size();
  check_engine(lengths, lint, out);
  if (out.size() > before) return;
  check_rollout(lengths, lint, out);
}

}  // namespace

namespace lints {
extern const Lint context_overflow;
const Lint context_overflow = {
    "context-overflow",
    Level::kError,
    "The longest response and the prompt do not fit into the engine's context.",
    "The engine refuses every such request ('max_tokens' or 'max_completion_tokens' is too large). The rollouts then "
    "stand at "
    "0 of N, with nothing in the trainer's log.",
    "vLLM's request validation; a prime-rl run of 2026-01 that hung so with max_tokens = 4000 of max_model_len = 4096",
    check_lengths};
}  // namespace lints

}  // namespace mw::preflight
