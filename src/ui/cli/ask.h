// What `tell`, `pause`, `resume` and `stop` share: they put a request to the midwatch that watches a run.
#pragma once

#include <string_view>

#include "ui/cli/verb.h"

namespace mw {

void declare_ask(ArgSpec& spec);
/// Asks, waits for the answer and shows it: `done` is the sentence for when it was taken.
Exit ask_run(const Args& args, Services& services, const Console& console, const RunAsk& ask, std::string_view done);

}  // namespace mw
