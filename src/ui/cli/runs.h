// What the verbs that look at a run share: paths are replayed, no path means the newest recorded run.
#pragma once

#include <memory>

#include "ui/cli/verb.h"

namespace mw {

void declare_run(ArgSpec& spec);
Result<std::unique_ptr<Replayed>> take_run(const Args& args, Services& services);

}  // namespace mw
