// The options by which runs are looked for.
#pragma once

#include "api/registry.h"
#include "base/result.h"
#include "ui/cli/verb.h"

namespace mw {

/// --framework, --model, --status, --incident, --tag, --since and words.
void declare_filter(ArgSpec& spec);
/// kInvalid: --since is no date.
Result<RunFilter> take_filter(const Args& args);

}  // namespace mw
