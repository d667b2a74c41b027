#include "ui/cli/runs.h"

namespace mw {

void declare_run(ArgSpec& spec) {
  spec.positional("paths", "files or directories of one run; none: the run that was recorded last", true, false);
  spec.option("run", "ID", "a recorded run, by its id");
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or .midwatch here)");
  spec.option("framework", "NAME", "do not recognise the framework, use this dialect");
  spec.option("knowledge", "DIR", "also load dialects, signatures and rules from DIR");
}

Result<std::unique_ptr<Replayed>> take_run(const Args& args, Services& services) {
  if (!args.has("paths")) return services.recorded(args.get("home"), args.get("run"));
  ReplayRequest request;
  request.paths = args.list("paths");
  request.framework = args.get("framework");
  request.knowledge = args.list("knowledge");
  return services.replay(request);
}

}  // namespace mw
