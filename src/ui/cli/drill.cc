// midwatch drill: stages a fault for real and reports what midwatch saw and did, and how soon.
#include "api/drill.h"

#include <array>
#include <csignal>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

using Target = DrillInfo::Target;

constexpr std::array kDrills = {
    DrillInfo{
        "engine-dead", "kill -9 of the inference engine behind a trainer that scores empty answers zero (AReaL)",
        "the attempt is ended before it saves what it learnt from that, and goes on from the last good checkpoint",
        Target::kEngine, SIGKILL, "--speak areal --pace 0.25", "engine-dead", 5, true},
    DrillInfo{"engine-dead-crash", "kill -9 of the inference engine; the trainer dies of it (verl)",
              "a new attempt brings both back", Target::kEngine, SIGKILL, "--speak verl --pace 0.2", "engine-dead", 5,
              true},
    DrillInfo{"trainer-killed", "kill -9 of the trainer", "the next attempt goes on from the last checkpoint",
              Target::kTrainer, SIGKILL, "--speak verl --pace 0.15", "crash", 5, true},
    DrillInfo{"sigterm-from-elsewhere", "somebody ends the trainer with SIGTERM", "that was meant: no restart",
              Target::kTrainer, SIGTERM, "--speak verl --pace 0.15", "interrupted", 5, false},
    DrillInfo{"nan-in-loss", "a NaN reaches the weights at step 13",
              "the attempt is ended before it saves them, and goes on from before, once", Target::kNone, 0,
              "--speak verl --pace 0.1 --fault nan@13", "non-finite", 0, true},
};

void declare(ArgSpec& spec) {
  spec.positional("name", "which drill; --list shows them", false, false);
  spec.flag("list", "the drills, and what must come of each");
  spec.flag("json", "print what came of it, or the list, as JSON");
  spec.option("practice", "PATH", "the practice run's program (default: the one beside midwatch)");
  spec.flag("yes", "do it to a supervised run of your own: the one that is live, or --run");
  spec.option("run", "NAME", "with --yes: which run, by its name or the beginning of it");
  spec.option("process", "PID", "with --yes: the process to hit, one of the run's (default: found by its name)");
  spec.option("home", "DIR", "with --yes: where it is recorded (default: $MIDWATCH_HOME, or all places that you used)");
}

Exit list_json(const Console& console) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.drills/1").key("drills").begin_array();
    for (const DrillInfo& one : all_drills()) {
      json.begin_object().key("name").string(one.name).key("does").string(one.does).key("becomes").string(one.becomes);
      json.key("incident").string(one.incident).key("within_s");
      one.within_s > 0 ? json.number(one.within_s) : json.null();
      json.key("own").boolean(one.target != Target::kNone).end_object();
    }
    json.end_array().end_object();
  }
  console.out(out + "\n");
  return Exit::kOk;
}

std::string result_json(const DrillRequest& request, const DrillResult& result, const std::vector<std::string>& said) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.drill/1").key("drill").string(request.name);
    json.key("as_stated").boolean(result.as_stated).key("what").string(result.what).key("folder").string(result.folder);
    json.key("said").begin_array();
    for (const std::string& line : said) json.string(line);
    json.end_array().end_object();
  }
  return out + "\n";
}

Exit list(const Console& console) {
  for (const DrillInfo& one : all_drills()) {
    console.out(cat(one.name, one.target == Target::kNone ? "  (practice run only)" : "", "\n    ", one.does,
                    "\n    → ", one.becomes,
                    one.within_s > 0 ? cat("; ", one.incident, " is reported within ", one.within_s, " s") : "", "\n"));
  }
  return Exit::kOk;
}

Result<DrillRequest> request_of(const Args& args) {
  DrillRequest request;
  request.name = args.get("name");
  request.practice = args.get("practice");
  request.home = args.get("home");
  request.run = args.get("run");
  request.own = args.has("yes");
  if (request.name.empty()) {
    return Error{Error::Code::kInvalid, "no drill is named", "midwatch drill --list shows them."};
  }
  const auto process = parse_int(args.get("process"));
  if (args.has("process") && (!process || *process < 2)) {
    return Error{Error::Code::kInvalid, "--process is the number of a process", ""};
  }
  request.process = process ? *process : 0;
  if (!request.own && (args.has("run") || args.has("process") || args.has("home"))) {
    return Error{Error::Code::kInvalid, "a drill on a run of your own kills one of its processes",
                 "Say --yes if that is meant. Without --run it is done to the practice run."};
  }
  return request;
}

Exit run(const Args& args, Services& services, const Console& console) {
  if (args.has("list")) return args.has("json") ? list_json(console) : list(console);
  auto request = request_of(args);
  if (!request.ok()) return report_error(console, request.error());
  std::vector<std::string> said;
  request->say = [&](const std::string& sentence) {
    said.push_back(sentence);
    if (args.has("json")) return;
    console.out(escape_terminal(sentence) + "\n");
    console.flush();
  };
  const auto result = services.drill(*request);
  if (!result.ok()) return report_error(console, result.error());
  if (args.has("json")) {
    console.out(result_json(*request, *result, said));
    return result->as_stated ? Exit::kOk : Exit::kFailed;
  }
  console.out(cat(request->own        ? ""
                  : result->as_stated ? "as stated: "
                                      : "NOT AS STATED: ",
                  escape_terminal(result->what), "\nrecorded in ", escape_terminal(result->folder), "\n"));
  return result->as_stated ? Exit::kOk : Exit::kFailed;
}

}  // namespace

std::span<const DrillInfo> all_drills() { return kDrills; }

namespace verbs {
extern const Verb drill;
const Verb drill = {
    "drill", "Fire drills: stage a fault for real, and see what midwatch makes of it",
    "  midwatch drill --list\n"
    "  midwatch drill engine-dead              on the practice run, which must be built beside midwatch\n"
    "  midwatch drill trainer-killed --yes     on the newest supervised run: it really is killed\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
