#include "core/detect/support/server_restarts.h"

#include <algorithm>

namespace mw::detect {

namespace {

/// Only says that a server is waited for.
bool waits(const Symptom& symptom) {
  return symptom.signature != nullptr && symptom.signature->role == Role::kSymptom &&
         symptom.signature->kind == "engine-dead" && !symptom.signature->fatal;
}

}  // namespace

void outlive_server_restarts(const State& state, const Knowledge& knowledge, std::vector<Symptom>& symptoms) {
  const bool own_log = knowledge.is_engine(state.framework);  // a trainer's log shows its engines' starts, too
  std::vector<Where> starts;
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (signature == nullptr || signature->role != Role::kBenign || signature->kind != "engine-dead") continue;
    for (const SignatureState::Match& match : seen.matches) starts.push_back(match.moment.where);
  }
  for (Symptom& symptom : symptoms) {
    if (!own_log && !waits(symptom)) continue;
    const bool again = std::any_of(starts.begin(), starts.end(), [&symptom](const Where& start) {
      return start.source == symptom.moment.where.source && start.line > symptom.last_line;
    });
    symptom.survived = symptom.survived || (again && !symptom.teardown);
  }
}

}  // namespace mw::detect
