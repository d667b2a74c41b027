#include "ui/cli/ask.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace mw {
namespace {

/// Only a command that midwatch started is its to pause or stop.
Result<void> may_ask(const RunStanding& standing, RunAsk::What what) {
  if (what == RunAsk::What::kTell) return {};
  const bool pausing = what == RunAsk::What::kPause || what == RunAsk::What::kResume;
  const std::string_view deed = pausing ? "pause" : "stop";
  const bool allowed = std::find(standing.allow.begin(), standing.allow.end(), deed) != standing.allow.end();
  if (standing.adopted && !allowed && what != RunAsk::What::kApprove) {
    return Error{
        Error::Code::kInvalid,
        cat("run ", standing.name, ": somebody else started its command, and midwatch is not allowed to ", deed, " it"),
        cat("Attach with: midwatch attach --pid ", standing.pid, " --allow ", deed)};
  }
  if (!standing.held && (!standing.adopted || what == RunAsk::What::kApprove)) {
    return Error{Error::Code::kInvalid, cat("run ", standing.name, " is only read: somebody else started its command"),
                 "midwatch pauses and stops what 'midwatch run' started."};
  }
  if (standing.phase == RunStanding::Phase::kOver) {
    return Error{Error::Code::kInvalid, cat("run ", standing.name, " is over: ", standing.why),
                 "Name another one with --run."};
  }
  return {};
}

}  // namespace

void declare_ask(ArgSpec& spec) {
  spec.option("run", "ID", "which recorded run (default: the one that was written last)");
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or .midwatch here)");
  spec.flag("json", "print what came of it as JSON");
}

Exit ask_run(const Args& args, Services& services, const Console& console, const RunAsk& ask, std::string_view done) {
  const auto standing = services.standing(args.get("home"), args.get("run"));
  if (!standing.ok()) return report_error(console, standing.error());
  if (const auto may = may_ask(*standing, ask.what); !may.ok()) return report_error(console, may.error());
  const auto asked = services.ask(args.get("home"), standing->name, ask);
  if (!asked.ok()) return report_error(console, asked.error());
  if (args.has("json")) {
    std::string out;
    JsonWriter(out)
        .begin_object()
        .key("schema")
        .string("midwatch.asked/1")
        .key("run")
        .string(asked->run)
        .key("taken")
        .boolean(asked->taken)
        .key("watched")
        .boolean(asked->watched)
        .end_object();
    console.out(out + "\n");
  } else if (asked->taken) {
    console.out(cat(asked->run, ": ", done, "\n"));
  } else {
    console.out(cat(asked->run, ": left for the run's midwatch, which ",
                    asked->watched
                        ? "has not taken it yet (midwatch status shows whether it lives)\n"
                        : "is not running; take the run up with: midwatch run --take-up " + asked->run + "\n"));
  }
  // A word may wait for its reader; what should happen now has not.
  return asked->taken || ask.what == RunAsk::What::kTell ? Exit::kOk : Exit::kFailed;
}

}  // namespace mw
