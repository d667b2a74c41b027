// A model that is no text model, for a trainer that loads text models.
#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

void check_vision(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.model.has_value() || !facts.model->vision) return;
  const Value trained = value_of(facts, "trains_vision");  // a framework that can, or a setting that says so
  if (truth_of(facts, "trains_vision").value_or(true)) return;
  const Value model = value_of(facts, "model");
  out.push_back(
      finding_at(lint, Level::kError, model.setting,
                 cat(facts.model->name, " is a vision-language model (by ", facts.model->known_by, "), and ",
                     facts.framework->title, " loads text models here"),
                 cat("take a text-only model for ", model.key.empty() ? std::string("the model") : model.key)));
}

}  // namespace

namespace lints {
extern const Lint vision_model;
const Lint vision_model = {
    "vision-model",
    Level::kError,
    "A vision-language model for a trainer that loads text models.",
    "AutoModelForCausalLM ends with 'Unrecognized configuration class' for the configuration of a vision model.",
    "transformers' auto classes; a prime-rl run of 2026-01 (qwen3-vl-8b-instruct, attempt 5)",
    check_vision};
}  // namespace lints

}  // namespace mw::preflight
