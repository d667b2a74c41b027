// Models that are known not to train here, and names that are not on the hub.
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

void check_model(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.model.has_value() || facts.model->trouble.empty()) return;
  const ModelFacts& model = *facts.model;
  Finding finding =
      finding_at(lint, model.trouble_is_certain ? Level::kError : Level::kWarning, value_of(facts, "model").setting,
                 cat(model.name, ": ", model.trouble), model.trouble_fix);
  finding.source = model.trouble_source;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint model_trouble;
const Lint model_trouble = {"model-trouble",
                            Level::kError,
                            "A model that is known to fail, or a name that the hub does not have.",
                            "It fails while the model is loaded or when weights are first sent to the engine: after "
                            "minutes of paid start-up, every time.",
                            "knowledge/preflight/models.toml, each row with its own source",
                            check_model};
}  // namespace lints

}  // namespace mw::preflight
