#include "core/detect/support/helper_threads.h"

#include <algorithm>

#include "base/text.h"

namespace mw::detect {
namespace {

// From "Exception in thread ...:" to its traceback; PowerShell puts a frame of six lines behind a program's first
// error.
constexpr uint64_t kHeaderLines = 2, kFramedHeaderLines = 8;
// Of a log of 20 lines that is shown.
constexpr uint64_t kQuotedLines = 22;
constexpr std::string_view kOnlyShown = "error-that-is-only-shown";

}  // namespace

HelperThreads::HelperThreads(const State& state, const Knowledge& knowledge) {
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (signature == nullptr || signature->role != Role::kBenign || signature->kind != "crash") continue;
    for (const SignatureState::Match& match : seen.matches) {
      const bool framed = contains(match.text, ".exe : ");
      const bool quoted = contains(match.text, "dashboard");
      const uint64_t lines = quoted ? kQuotedLines : framed ? kFramedHeaderLines : kHeaderLines;
      (seen.id == kOnlyShown ? shown_ : headers_).emplace_back(match.moment.where, lines);
    }
  }
}

bool HelperThreads::stands_behind(const std::vector<Header>& headers, const Symptom& symptom) {
  return std::any_of(headers.begin(), headers.end(), [&symptom](const Header& one) {
    const auto& [header, lines] = one;
    const Where& at = symptom.moment.where;
    return header.source == at.source && header.line < at.line && header.line + lines >= at.line;
  });
}

bool HelperThreads::died_in(const Symptom& symptom) const {
  return stands_behind(headers_, symptom) || only_shown(symptom);
}
bool HelperThreads::only_shown(const Symptom& symptom) const {
  return symptom.signature == nullptr && stands_behind(shown_, symptom);
}

}  // namespace mw::detect
