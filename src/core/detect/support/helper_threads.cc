#include "core/detect/support/helper_threads.h"

#include <algorithm>

#include "base/text.h"

namespace mw::detect {
namespace {

// From "Exception in thread ...:" to its traceback; PowerShell puts a frame of six lines behind a program's first
// error.
constexpr uint64_t kHeaderLines = 2, kFramedHeaderLines = 8;

}  // namespace

HelperThreads::HelperThreads(const State& state, const Knowledge& knowledge) {
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (signature == nullptr || signature->role != Role::kBenign || signature->kind != "crash") continue;
    for (const SignatureState::Match& match : seen.matches) {
      const bool framed = contains(match.text, ".exe : ");
      headers_.emplace_back(match.moment.where, framed ? kFramedHeaderLines : kHeaderLines);
    }
  }
}

bool HelperThreads::died_in(const Symptom& symptom) const {
  return std::any_of(headers_.begin(), headers_.end(), [&symptom](const auto& one) {
    const auto& [header, lines] = one;
    const Where& at = symptom.moment.where;
    return header.source == at.source && header.line < at.line && header.line + lines >= at.line;
  });
}

}  // namespace mw::detect
