// midwatch run: starts a training command, watches it, and starts it again when that makes sense.
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "ui/cli/run_words.h"
#include "ui/cli/shown_incidents.h"
#include "ui/cli/take_duration.h"
#include "ui/cli/take_price.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"
#include "ui/live/live_display.h"
#include "ui/report/terminal.h"
#include "ui/view/overview.h"

namespace mw {

void declare_supervised(ArgSpec& spec) {
  spec.option("config", "FILE", "settings (default: midwatch.toml here, if there is one); 'none': none");
  spec.option("home", "DIR", "where the run is recorded (default: $MIDWATCH_HOME, or ~/.local/state/midwatch)");
  spec.option("name", "NAME", "name of the run (default: from the time and the command)");
  spec.option("watch", "PATH",
              "also read this file or folder of the run (metrics, TensorBoard, W&B), but for what it held before; may "
              "be repeated");
  spec.option("restarts", "N", "restarts in a row without progress; 0: never restart", "5");
  spec.option("first-wait", "TIME", "before a restart; doubles while there is no progress", "10s");
  spec.option("grace", "TIME", "from asking the command to end to killing it", "30s");
  spec.flag("no-breaker", "do not end an attempt that trains on poisoned data (dead engine, zero reward, NaN)");
  spec.flag("unattended",
            "nobody is there to ask: do what midwatch would ask for (end a hang or a poisoned attempt, make room on a "
            "full disk)");
  spec.option("checkpoints", "DIR",
              "folder of the run's checkpoints, if its log does not name it; may be repeated. Tainted ones are "
              "quarantined there");
  spec.flag("from-scratch", "let a later attempt begin from nothing, though a checkpoint was saved");
  spec.option("cost-per-hour", "PRICE", "what the run's machines cost, in your currency: shows what it costs");
  spec.flag("no-host", "do not watch the machine (disks, memory, processes), only the run's files and checkpoints");
  spec.flag("json", "print what midwatch does and decides as JSON lines, in place of the command's output");
  spec.flag(
      "quiet",
      "show neither what the command writes (it is kept in the run's folder) nor live status lines on a terminal");
  spec.option("framework", "NAME", "do not recognise the framework, use this dialect");
  spec.option("timezone", "ZONE",
              "of clocks that name none: UTC, local, +08:00 (default: as the log shows while it is written)");
  spec.option("knowledge", "DIR", "also load dialects, signatures and rules from DIR");
}

namespace {

// As env(1) and timeout(1) have them, so that they are not taken for the command's own.
constexpr int kOwnFailure = 125, kCannotStart = 127, kSignalled = 128;
constexpr int kUnfinished = 1;  // as a training that fails mostly says itself

void declare(ArgSpec& spec) {
  declare_supervised(spec);
  spec.option("store", "PLACE",
              "ship each checkpoint there when it is whole, with the journal and logs: s3://BUCKET/RUN, or a folder");
  spec.flag("dry-run",
            "run the command once and do nothing to it or to its files: say what would have been done ([actions], "
            "[cleanup])");
  spec.option("reattach", "RUN", "watch a run again whose midwatch is gone: its name, or 'newest'");
}

/// What the command line says wins over what the file said.
Result<RunRequest> request_of(const Args& args, RunRequest request) {
  const auto wrong = [](std::string what, std::string hint) {
    return Error{Error::Code::kInvalid, std::move(what), std::move(hint)};
  };
  request.reattach = args.get("reattach");
  if (args.has("command") || !request.reattach.empty()) request.spec.command = args.list("command");
  if (request.spec.command.empty() == request.reattach.empty()) {
    return request.spec.command.empty()
               ? wrong("there is no command to run",
                       "Write it at the end, as: -- bash train.sh; or into midwatch.toml, as command of [run].")
               : wrong("--reattach uses the run's own command", "Leave the command out.");
  }
  if (args.has("home")) request.home = args.get("home");
  if (args.has("name")) request.name = args.get("name");
  if (args.has("watch")) request.spec.also = args.list("watch");
  if (args.has("framework")) request.framework = args.get("framework");
  if (args.has("timezone")) request.timezone = args.get("timezone");
  if (args.has("knowledge")) request.knowledge = args.list("knowledge");
  const auto restarts = parse_int(args.get("restarts"));
  const auto wait = take_duration(args, "first-wait"), grace = take_duration(args, "grace");
  if (!restarts || *restarts < 0 || *restarts > 1'000'000) return wrong("--restarts is a number from 0 up", "");
  if (!wait.ok()) return wait.error();
  if (!grace.ok()) return grace.error();
  if (args.has("restarts")) request.spec.limits.restarts = static_cast<int>(*restarts);
  if (args.has("first-wait")) request.spec.limits.first_wait = *wait;
  if (args.has("grace")) request.spec.grace = *grace;
  if (args.has("no-breaker")) request.spec.breaker = false;
  if (args.has("checkpoints")) request.spec.checkpoints = args.list("checkpoints");
  if (args.has("from-scratch")) request.spec.from_scratch = true;
  if (args.has("no-host")) request.host = false;
  if (args.has("cost-per-hour")) {
    const auto price = take_price(args);
    if (!price.ok()) return price.error();
    request.cost_per_hour = *price;
  }
  if (args.has("unattended")) request.spec.unattended = true;
  if (request.spec.unattended) answer_for_itself(request.spec);
  if (args.has("dry-run")) {
    request.spec.dry = true;
    request.stacks = false;  // reading them stops a process for a moment
    request.spec.breaking = request.spec.breaking_learning = request.spec.breaking_hang = request.spec.restarting =
        Mode::kWatch;
  }
  return request;
}

/// What a person calls it: the run's name, or the command's.
std::string watched_name(const RunRequest& request) {
  if (!request.name.empty()) return request.name;
  if (!request.reattach.empty()) return request.reattach == "newest" ? "" : std::string(basename(request.reattach));
  return std::string(basename(request.spec.command.front()));
}

/// Decisions and actions as JSON lines on standard output; docs/formats/run-folder.md.
void report_in_json(const Console& console, RunRequest& request) {
  request.output = nullptr;
  request.say = [&console](const std::string& sentence) {
    std::string line;
    JsonWriter(line).begin_object().key("event").string("said").key("text").string(sentence).end_object();
    console.out(line + "\n");
    console.flush();
  };
  request.decided = [&console](const State&, const Event& event) {
    std::string line;
    if (const auto* opened = std::get_if<event::IncidentOpened>(&event.body)) {
      line = cat("{\"event\":\"opened\",\"id\":", opened->id, ",\"incident\":", opened->json, "}\n");
    } else if (const auto* changed = std::get_if<event::IncidentChanged>(&event.body)) {
      line = cat("{\"event\":\"changed\",\"id\":", changed->id, ",\"incident\":", changed->json, "}\n");
    } else if (const auto* closed = std::get_if<event::IncidentClosed>(&event.body)) {
      line = cat("{\"event\":\"closed\",\"id\":", closed->id, "}\n");
    }
    console.out(line);
    console.flush();
  };
}

/// Decisions and actions as sentences on standard error, the command's output on standard output; on a terminal that
/// has a live view through that.
void report_in_words(const Console& console, LiveDisplay* live, ShownIncidents& shown, bool quiet,
                     RunRequest& request) {
  const auto say = [&console, live](const std::string& lines) {
    live != nullptr ? live->say(lines) : console.err(lines);
  };
  request.say = [say](const std::string& sentence) { say(cat("midwatch: ", escape_terminal(sentence), "\n")); };
  request.decided = [say, &shown](const State& state, const Event& event) { say(shown.text(state, event)); };
  if (quiet) return;
  request.output = [&console, live](std::string_view text) {
    if (live != nullptr) return live->output(text);
    console.out(text);  // the command's own words, as they would have stood here without midwatch
    console.flush();
  };
  if (live == nullptr) return;
  request.takes_output = [live] { return live->takes_output(); };
  request.live = [live](const State& state, const LiveFacts& facts) { live->show(state, facts); };
}

void say_end(const Console& console, bool json, const RunResult& result) {
  if (json) {
    std::string line;
    JsonWriter(line)
        .begin_object()
        .key("event")
        .string("over")
        .key("why")
        .string(result.why)
        .key("attempts")
        .integer(result.attempts)
        .key("code")
        .integer(result.code)
        .key("signal")
        .integer(result.signal)
        .key("unfinished")
        .boolean(result.unfinished)
        .key("folder")
        .string(result.folder)
        .end_object();
    console.out(line + "\n");
    return;
  }
  // In a file that is read later, what follows is none of the command's output (knowledge/dialects/midwatch.toml).
  if (result.started && !console.err_is_terminal) console.err("=== midwatch: report ===\n");
  if (result.started)
    console.err(
        terminal_brief(*result.replayed, console,
                       cat("More: midwatch replay --full ", result.folder)));  // else there is no run to report on
  for (const std::string& note : result.replayed->notes) console.err(cat("note: ", escape_terminal(note), "\n"));
  if (result.code == 0 && nothing_known(result.replayed->state)) {
    console.err(
        "midwatch: nothing was seen of a training. If the command only hands it over (sbatch, ray job submit, docker "
        "run "
        "-d), start midwatch run where it is done (docs/deploy); if it keeps its log in a file, name that with "
        "--watch.\n");
  }
  console.err(cat("midwatch: ", result.attempts, result.attempts == 1 ? " attempt. " : " attempts. ",
                  escape_terminal(result.why), " Recorded in ", escape_terminal(result.folder), "\n"));
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto request = run_request(args, services);
  if (!request.ok()) return report_error(console, request.error());
  if (args.has("store") && !request->reattach.empty()) {
    return report_error(console, {Error::Code::kInvalid, "--store is said when a run begins", "Leave it out."});
  }
  if (args.has("store")) {
    if (const auto named = must_name("--store", args.get("store")); !named.ok())
      return report_error(console, named.error());
    request->spec.store = args.get("store");
  }
  return run_and_show(args, services, console, *request);
}

}  // namespace

Result<RunRequest> run_request(const Args& args, Services& services) {
  RunRequest settings;
  if (const auto done = services.configure(args.get("config"), settings); !done.ok()) return done.error();
  return request_of(args, std::move(settings));
}

Exit run_and_show(const Args& args, Services& services, const Console& console, RunRequest request) {
  const bool json = args.has("json"), quiet = args.has("quiet");
  const auto live = json || quiet ? nullptr : LiveDisplay::make(console, watched_name(request));
  ShownIncidents shown(console, Severity::kWarning);
  report_in_words(console, live.get(), shown, quiet, request);
  if (json) report_in_json(console, request);
  auto result = services.run(request);
  if (live != nullptr) live->close();
  if (!result.ok()) {
    (void)report_error(console, result.error());
    return static_cast<Exit>(kOwnFailure);
  }
  say_end(console, json, *result);
  if (!result->started) return static_cast<Exit>(kCannotStart);
  if (result->signal != 0) return static_cast<Exit>(kSignalled + result->signal);
  if (result->code == 0 && result->unfinished) return static_cast<Exit>(kUnfinished);
  return result->code < 0 ? static_cast<Exit>(kOwnFailure) : static_cast<Exit>(result->code);
}

namespace verbs {
extern const Verb run;
const Verb run = {
    "run",
    "Start a training command, watch it, and start it again when that makes sense",
    "  midwatch run -- bash train_grpo.sh\n"
    "  midwatch run --watch outputs/ --restarts 3 -- python -m verl.trainer.main_ppo trainer.resume_mode=auto\n"
    "  midwatch run --config midwatch.toml  # everything is in the file: docs/config.md, midwatch config reference\n"
    "  midwatch run --store s3://bucket/run -- bash train_grpo.sh    # ship what it saves\n"
    "  midwatch run --dry-run -- bash train_grpo.sh   # what would it have done?\n"
    "  midwatch run --unattended -- bash train_grpo.sh   # over night: act where it would ask\n"
    "  midwatch run --reattach newest        # after midwatch itself was killed: training went on\n"
    "\nCtrl-C asks the command to end (SIGINT, later SIGTERM, SIGKILL), a second Ctrl-C kills it.\n"
    "SIGTERM to midwatch reaches the command as SIGTERM.\n"
    "SIGUSR1 and SIGUSR2 are passed on to those of its processes that handle them.\n"
    "The command should resume by itself when it is started again. Where it needs arguments for that, write {resume} "
    "into it:\n"
    "nothing at first, later the trainer's own arguments for the last good checkpoint (or resume of [run]):\n"
    "  midwatch run -- python train_grpo.py --config grpo.yaml {resume}\n"
    "Exit status: the command's own, 128 + n when signal n ended it or came before it began, 127 when it could not be\n"
    "started,\n"
    "125 when midwatch failed or could not learn how it ended, 1 when the command said 0 though it ended far short of\n"
    "its plan or by an error (\"python train.py | tee log\" gives the status of tee).\n",
    declare,
    mw::run,
    false,
    true,
    true};
}  // namespace verbs

}  // namespace mw
