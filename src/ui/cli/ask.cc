#include "ui/cli/ask.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "core/supervise/client.h"
#include "core/supervise/client_target.h"
#include "ui/cli/take_run.h"

namespace mw {
namespace {

/// Only a command that midwatch started is its to pause or stop.
Result<void> may_ask(const RunStatus& status, RunAsk::What what) {
  if (what == RunAsk::What::kTell) return {};
  const bool pausing = what == RunAsk::What::kPause || what == RunAsk::What::kResume;
  const std::string_view action = pausing ? "pause" : "stop";
  const bool allowed = std::find(status.allow.begin(), status.allow.end(), action) != status.allow.end();
  if (status.adopted && !allowed && what != RunAsk::What::kApprove) {
    return Error{
        Error::Code::kInvalid,
        cat("run ", status.name, ": somebody else started its command, and midwatch is not allowed to ", action, " it"),
        cat("Attach with: midwatch attach --pid ", status.pid, " --allow ", action)};
  }
  if (!status.supervised && (!status.adopted || what == RunAsk::What::kApprove)) {
    return Error{Error::Code::kInvalid, cat("run ", status.name, " is only read: somebody else started its command"),
                 "midwatch pauses and stops what 'midwatch run' started."};
  }
  if (status.phase == RunStatus::Phase::kOver) {
    return Error{Error::Code::kInvalid, cat("run ", status.name, " is over: ", status.why),
                 "Name another one with --run."};
  }
  const Client* const client = status.supervised ? client_of(status.command) : nullptr;
  if (client != nullptr && what == RunAsk::What::kPause) {
    return Error{Error::Code::kInvalid,
                 cat("run ", status.name, ": its training runs ", client->where, " and is no process below ",
                     client->called, ": midwatch cannot pause it"),
                 how_to_end(*client, status.command, "")};
  }
  if (what == RunAsk::What::kApprove && status.asks.empty()) {
    return Error{Error::Code::kInvalid, cat("run ", status.name, ": midwatch asks for nothing now"),
                 status.phase == RunStatus::Phase::kPaused ? "It is paused: midwatch resume continues it."
                                                           : "What it asks for stands in midwatch status."};
  }
  return {};
}

/// What a person does where the request ends the client alone. midwatch does not: a name may have become somebody
/// else's, and what a client follows may be other people's, too.
std::string said_of_client(const RunStatus& status, RunAsk::What what) {
  const bool ends = what == RunAsk::What::kStop || what == RunAsk::What::kKill;
  const Client* const client = ends && status.supervised ? client_of(status.command) : nullptr;
  if (client == nullptr) return "";
  return cat("Its training runs ", client->where, " and may go on: ", how_to_end(*client, status.command, ""), "\n");
}

}  // namespace

void declare_ask(ArgSpec& spec) {
  declare_which(spec);
  spec.flag("json", "print what came of it as JSON");
}

Exit ask_run(const Args& args, Services& services, const Console& console, const RunAsk& ask, std::string_view done) {
  const auto folder = services.choose(args.get("home"), args.get("run"));
  if (!folder.ok()) return report_error(console, folder.error());
  const auto status = services.status("", *folder);
  if (!status.ok()) return report_error(console, status.error());
  if (const auto may = may_ask(*status, ask.what); !may.ok()) return report_error(console, may.error());
  const auto asked = services.ask("", *folder, ask);
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
    console.out(cat(asked->run, ": ", done, "\n", said_of_client(*status, ask.what)));
  } else {
    console.out(cat(asked->run, ": left for the run's midwatch, which ",
                    asked->stopped != 0 ? cat("takes it when it goes on. Now ", stopped_watcher(asked->stopped), "\n")
                    : asked->watched    ? "has not taken it yet (midwatch status shows whether it lives)\n"
                                     : "is not running; reattach with: midwatch run --reattach " + asked->run + "\n"));
  }
  // A note may wait for its reader; any other request that nobody took has failed.
  return asked->taken || ask.what == RunAsk::What::kTell ? Exit::kOk : Exit::kFailed;
}

}  // namespace mw
