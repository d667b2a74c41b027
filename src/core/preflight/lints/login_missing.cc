// Logins that the run needs: only whether they exist, never what they are.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

bool has_variable(const Host& host, std::string_view name) {
  const auto at = host.environment.find(std::string(name));
  return at != host.environment.end() && !at->second.empty();
}

std::string lower_variable(const Host& host, std::string_view name) {
  const auto at = host.environment.find(std::string(name));
  return at == host.environment.end() ? "" : to_lower(at->second);
}

bool has_login(const Host& host, std::string_view where) {
  return std::find(host.logins.begin(), host.logins.end(), where) != host.logins.end();
}

/// The run logs to W&B's server; the setting that says so.
bool logs_to_wandb(const Facts& facts, Value& how) {
  how = value_of(facts, "wandb");
  if (!how.known && how.setting == nullptr) return false;
  const std::string lower = to_lower(how.text);
  const bool named = contains(lower, "wandb") || lower == "online";
  const bool list = lower.starts_with('[') || (how.setting != nullptr && how.setting->kind == Setting::Kind::kText);
  if (!named && list && lower != "all") {
    // A list in a file has its items below it.
    const auto& all = facts.settings.all();
    const std::string below = cat(how.key, ".");
    for (auto at = all.lower_bound(below); at != all.end() && at->first.starts_with(below); ++at) {
      if (contains(to_lower(at->second.text), "wandb")) return true;
    }
    return false;
  }
  return named || truth_of(facts, "wandb").value_or(false);
}

void check_wandb(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  Value how;
  if (!facts.host.is_here || !logs_to_wandb(facts, how)) return;
  const std::string mode = lower_variable(facts.host, "WANDB_MODE"), off = lower_variable(facts.host, "WANDB_DISABLED");
  if (truth_of(facts, "wandb_offline").value_or(false) || mode == "offline" || mode == "disabled" || mode == "dryrun" ||
      off == "true" || off == "1")
    return;
  if (value_of(facts, "wandb_key").set || has_variable(facts.host, "WANDB_API_KEY") ||
      has_login(facts.host, "api.wandb.ai"))
    return;
  const Value offline = value_of(facts, "wandb_offline");
  Finding finding = finding_at(lint, Level::kError, how.setting,
                               cat("the run logs to W&B", how.set ? "" : cat(" (", how.key, " is not set, so it does)"),
                                   ", and there is neither WANDB_API_KEY nor a login for api.wandb.ai in ~/.netrc"),
                               cat("export WANDB_API_KEY, run `wandb login`, or export WANDB_MODE=offline",
                                   offline.key.empty() ? "" : cat(" (", offline.key, " = true)")));
  out.push_back(std::move(finding));
}

void check_hub(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || !facts.model.has_value() || !facts.model->gated) return;
  for (const std::string_view name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN"}) {
    if (has_variable(facts.host, name)) return;
  }
  if (has_login(facts.host, "huggingface")) return;
  Finding finding = finding_at(
      lint, Level::kWarning, value_of(facts, "model").setting,
      cat(facts.model->name, " is given only to those who accepted its terms, and there is no login for the hub"),
      "accept the terms on its page and export HF_TOKEN, unless its files are here already");
  finding.source = "huggingface.co, gated models";
  out.push_back(std::move(finding));
}

void check_logins(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  check_wandb(facts, lint, out);
  check_hub(facts, lint, out);
}

}  // namespace

namespace lints {
extern const Lint login_missing;
const Lint login_missing = {
    "login-missing",
    Level::kError,
    "The run logs to W&B, or loads a gated model, without a login.",
    "It ends at the start: 'api_key not configured (no-tty)', 'No API key configured', '401 Client Error'.",
    "W&B's client; a prime-rl run of 2026-01 (attempt 2)",
    check_logins};
}  // namespace lints

}  // namespace mw::preflight
