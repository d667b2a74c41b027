// midwatch cleanup: lists a run's stale resources and removes them.
#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "ui/cli/clean_up.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"
#include "ui/report/paint.h"

namespace mw {
namespace {

using Thing = CleanupAnswer::Thing;

void declare(ArgSpec& spec) {
  spec.flag("dry-run", "only say what could be freed");
  spec.flag("yes", "free it without asking");
  spec.option("what", "WORD", "only this of [cleanup] what (may be given again): shared-memory, core-dumps, …");
  declare_which(spec);
  spec.flag("json", "print it as JSON, schema midwatch.cleanup/1");
}

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

int64_t total(const std::vector<Thing>& things) {
  int64_t bytes = 0;
  for (const Thing& thing : things) bytes += thing.bytes;
  return bytes;
}

void put_things(JsonWriter& json, const std::vector<Thing>& things) {
  json.begin_array();
  for (const Thing& thing : things) {
    json.begin_object().key("what").string(thing.what).key("path").string(thing.path);
    json.key("bytes").integer(thing.bytes).key("why").string(thing.why);
    json.key("done").boolean(thing.done).key("outcome").string(thing.outcome).end_object();
  }
  json.end_array();
}

std::string cleanup_json(const CleanupAnswer& answer, bool freed) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.cleanup/1").key("run").string(answer.run);
    json.key("freed").boolean(freed).key("pending").boolean(answer.pending).key("bytes").integer(total(answer.things));
    put_things(json.key("items"), answer.things);
    put_things(json.key("left"), answer.left);
    json.key("notes").begin_array();
    for (const std::string& note : answer.notes) json.string(note);
    json.end_array();
    json.end_object();
  }
  return out + "\n";
}

std::string plan_text(const CleanupAnswer& answer, bool prunes, const Console& console) {
  const Painter paint(console);
  const auto rows = [&paint](const std::vector<Thing>& things) {
    std::string out;
    for (const Thing& thing : things) {
      out += paint.hanging(cat("  ", pad(thing.bytes > 0 ? bytes_text(thing.bytes) : "", 9, true), "  "),
                           cat(thing.path, " — ", thing.why), 3);
    }
    return out;
  };
  std::string out =
      cat(escape_terminal(answer.run), ": ",
          answer.things.empty() ? "nothing to free" : cat(bytes_text(total(answer.things)), " could be freed"), "\n",
          rows(answer.things));
  if (!answer.left.empty())
    out += cat(prunes ? "these stay:\n" : "left alone, though they look like it:\n", rows(answer.left));
  for (const std::string& note : answer.notes) out += cat(escape_terminal(note), ".\n");
  if (prunes && answer.things.empty() && answer.left.empty() && answer.notes.empty()) {
    out += answer.names_known
               ? "No checkpoint in or below a declared folder (--checkpoints, or checkpoints of [run]) is this run's.\n"
               : "How this run names its checkpoints is not known, as its framework is not. Start the next one with "
                 "--framework NAME.\n";
  }
  return out;
}

std::string outcome_text(const CleanupAnswer& answer) {
  std::string out;
  for (const Thing& thing : answer.things) {
    out += escape_terminal(cat(thing.done ? "removed " : "not removed ", thing.path,
                               thing.outcome.empty() ? "" : ": " + thing.outcome)) +
           "\n";
  }
  if (answer.pending) {
    return out + "the run's midwatch was asked and is not done yet; midwatch status shows what comes of it\n";
  }
  return out + cat(bytes_text(total(answer.things)), " freed\n");
}

/// What was shown, with what came of each.
std::vector<Thing> outcomes(std::vector<Thing> shown, const CleanupAnswer& answer) {
  for (Thing& thing : shown) {
    const auto of = std::find_if(answer.things.begin(), answer.things.end(),
                                 [&thing](const Thing& other) { return other.path == thing.path; });
    thing.done = of != answer.things.end() && of->done;
    thing.bytes = of != answer.things.end() ? of->bytes : 0;
    thing.outcome = of != answer.things.end()
                        ? of->outcome
                        : "it may not be removed any more: it changed, or a process began to use it";
  }
  return shown;
}

/// The word "yes", typed.
bool says_yes(const Console& console) {
  console.out("Free it? It does not come back. Type yes: ");
  console.flush();
  char line[16] = "";
  return std::fgets(line, sizeof line, stdin) != nullptr && trim(line) == "yes";
}

Exit run(const Args& args, Services& services, const Console& console) {
  return clean_up_after_yes({args.get("home"), args.get("run"), args.list("what"), {}, {}}, args, services, console);
}

}  // namespace

Exit clean_up_after_yes(CleanupRequest request, const Args& args, Services& services, const Console& console) {
  const auto plan = services.could_clean_up(request);
  if (!plan.ok()) return report_error(console, plan.error());
  request.run = plan->folder.empty() ? plan->run : plan->folder;
  const bool json = args.has("json");
  const bool nothing = plan->things.empty() || args.has("dry-run");
  const bool may = args.has("yes") || (!nothing && !json && console.in_is_terminal && console.out_is_terminal);
  if (!json) console.out(plan_text(*plan, request.retention.has_value(), console));
  if (nothing || !may || (!args.has("yes") && !says_yes(console))) {
    if (json) console.out(cleanup_json(*plan, false));
    if (nothing) return Exit::kOk;
    console.err("midwatch: nothing was freed: say --yes if that is meant\n");
    return Exit::kUndone;
  }
  for (const Thing& thing : plan->things) request.paths.push_back(thing.path);
  auto answer = services.clean_up(request);
  if (!answer.ok()) return report_error(console, answer.error());
  if (!answer->pending) answer->things = outcomes(plan->things, *answer);
  console.out(json ? cleanup_json(*answer, true) : outcome_text(*answer));
  const bool all = std::all_of(answer->things.begin(), answer->things.end(), [](const Thing& one) { return one.done; });
  return all && !answer->pending ? Exit::kOk : Exit::kFailed;
}

namespace verbs {
extern const Verb cleanup;
const Verb cleanup = {
    "cleanup", "Free space: remove what is proven to be the run's and of no use to anyone",
    "  midwatch cleanup                        what could go, why, and how much; then it asks\n"
    "  midwatch cleanup --dry-run --json\n"
    "  midwatch cleanup --yes --what shared-memory --what core-dumps\n"
    "\nExit code 7: nothing was done, as nobody said yes. Never removed: what a process still uses, the\n"
    "newest whole checkpoint, and what is not proven to be this run's. docs/host.md says how.\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
