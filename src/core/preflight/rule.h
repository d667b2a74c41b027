// Rules of the catalogue, judged.
#pragma once

#include <optional>

#include "core/preflight/lint.h"

namespace mw::preflight {

/// What a rule has to say of these facts; nullopt: it holds, does not apply, or what it needs is not known. A rule
/// whose settings are all defaults has nothing to say: nobody set anything that could be mended.
std::optional<Finding> judge_rule(const Facts& facts, const Rule& rule);

}  // namespace mw::preflight
