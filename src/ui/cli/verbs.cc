#include <array>

#include "ui/cli/verb.h"

namespace mw {
namespace verbs {
extern const Verb replay, report, attach, run, incidents, why, compare, config;
}

std::span<const Verb* const> all_verbs() {
  static constexpr std::array kVerbs = {&verbs::replay,    &verbs::report, &verbs::attach,  &verbs::run,
                                        &verbs::incidents, &verbs::why,    &verbs::compare, &verbs::config};
  return kVerbs;
}

}  // namespace mw
