// What `midwatch run` and `midwatch onstart` share: the words of their command lines, and how a run is shown.
#pragma once

#include "api/requests.h"
#include "base/result.h"
#include "ui/cli/verb.h"

namespace mw {

void declare_supervised(ArgSpec& spec);
/// The settings, and what the command line says in their place.
Result<RunRequest> run_request(const Args& args, Services& services);
/// Supervises the command to its end; the exit status is that of `midwatch run`.
Exit run_and_show(const Args& args, Services& services, const Console& console, RunRequest request);

}  // namespace mw
