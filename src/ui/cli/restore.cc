// midwatch restore: puts quarantined checkpoints back where they were.
#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"
#include "ui/report/paint.h"

namespace mw {
namespace {

using Thing = RestoreAnswer::Thing;

void declare(ArgSpec& spec) {
  spec.flag("list", "only say what is quarantined");
  spec.flag("yes", "put it back without asking");
  spec.option("checkpoints", "DIR", "what onstart moved there before a run that never began");
  declare_which(spec);
  spec.flag("json", "print it as JSON, schema midwatch.restore/1");
}

std::string restore_json(const RestoreAnswer& answer, bool restored) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.restore/1").key("run").string(answer.run);
    json.key("restored").boolean(restored).key("items").begin_array();
    for (const Thing& thing : answer.things) {
      json.begin_object().key("what").string(thing.pointer ? "pointer" : "checkpoint").key("path").string(thing.path);
      json.key("from").string(thing.from).key("attempt").integer(thing.attempt).key("why").string(thing.why);
      json.key("at").string(format_utc(thing.at)).key("can").boolean(thing.may).key("done").boolean(thing.done);
      json.key("outcome").string(thing.outcome).end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

std::string thing_text(const Thing& thing) {
  if (!thing.may && !thing.outcome.empty()) return cat(thing.path, ": ", thing.outcome);
  if (thing.pointer) return cat(thing.path, " said ", trim(thing.from));
  const std::string when = thing.attempt == 0 ? "before the first attempt" : cat("after attempt ", thing.attempt);
  return cat(thing.path, " lies in ", folder_of(thing.from), ", ", when, " — ", thing.why);
}

std::string list_text(const RestoreAnswer& answer, const Console& console) {
  const Painter paint(console);
  const bool any = std::any_of(answer.things.begin(), answer.things.end(), [](const Thing& one) { return one.may; });
  std::string out = cat(escape_terminal(answer.run), ": ",
                        answer.things.empty() ? "nothing is quarantined"
                        : any                 ? "quarantined by midwatch"
                                              : "nothing is to be put back of what midwatch quarantined",
                        "\n");
  for (const Thing& thing : answer.things) out += paint.hanging("  ", thing_text(thing), 3);
  return out;
}

std::string outcome_text(const RestoreAnswer& answer) {
  std::string out;
  for (const Thing& thing : answer.things) {
    out += escape_terminal(cat(thing.done ? "put back " : "left ", thing.path, ": ", thing.outcome)) + "\n";
  }
  return out;
}

bool says_yes(const Console& console) {
  console.out("Put it back? Type yes: ");
  console.flush();
  char line[16] = "";
  return std::fgets(line, sizeof line, stdin) != nullptr && trim(line) == "yes";
}

Exit run(const Args& args, Services& services, const Console& console) {
  RestoreRequest request{args.get("home"), args.get("run"), args.get("checkpoints")};
  if (!request.run.empty() && !request.checkpoints.empty()) {
    return report_error(console, {Error::Code::kInvalid, "--run and --checkpoints name two things", "Name one."});
  }
  const auto listed = services.could_restore(request);
  if (!listed.ok()) return report_error(console, listed.error());
  if (request.checkpoints.empty()) request.run = listed->run;
  const bool json = args.has("json");
  const bool any = std::any_of(listed->things.begin(), listed->things.end(), [](const Thing& one) { return one.may; });
  const bool nothing = !any || args.has("list");
  const bool may = args.has("yes") || (!nothing && !json && console.in_is_terminal && console.out_is_terminal);
  if (!json) console.out(list_text(*listed, console));
  if (nothing || !may || (!args.has("yes") && !says_yes(console))) {
    if (json) console.out(restore_json(*listed, false));
    const bool refused = args.has("yes") && !args.has("list") &&
                         std::any_of(listed->things.begin(), listed->things.end(),
                                     [](const Thing& one) { return !one.pointer && !one.there; });
    if (refused) console.err("midwatch: nothing was put back: none of it can be\n");
    if (nothing) return refused ? Exit::kUndone : Exit::kOk;
    console.err("midwatch: nothing was put back: say --yes if that is meant\n");
    return Exit::kUndone;
  }
  const auto answer = services.restore(request);
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(json ? restore_json(*answer, true) : outcome_text(*answer));
  const bool all =
      std::all_of(answer->things.begin(), answer->things.end(), [](const Thing& one) { return one.done || !one.may; });
  return all ? Exit::kOk : Exit::kFailed;
}

}  // namespace

namespace verbs {
extern const Verb restore;
const Verb restore = {
    "restore", "Put back the checkpoints that midwatch quarantined, and the trainer's pointer as it was",
    "  midwatch restore --list              what is quarantined, since when and why\n"
    "  midwatch restore --run NAME          the same, then it asks\n"
    "  midwatch restore --yes --json\n"
    "  midwatch restore --checkpoints DIR   what no run that is recorded here moved there: onstart for one that then\n"
    "                                       could not begin, or one whose record is gone\n"
    "\nNothing is written over: where something else has the name by now, it says so. Not while the run is watched or\n"
    "its command lives. Exit code 7: nothing was done, as nobody said yes or none of it can\n"
    "be put back.\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
