#include <array>

#include "ui/cli/verb.h"

namespace mw {
namespace verbs {
extern const Verb replay, report, attach, incidents, why, compare;
}

std::span<const Verb* const> all_verbs() {
  static constexpr std::array<const Verb*, 6> kVerbs = {&verbs::replay,    &verbs::report, &verbs::attach,
                                                        &verbs::incidents, &verbs::why,    &verbs::compare};
  return kVerbs;
}

}  // namespace mw
