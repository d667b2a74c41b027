// midwatch attach: the same as replay, live.
#include "base/text.h"
#include "ui/cli/shown_incidents.h"
#include "ui/cli/take_duration.h"
#include "ui/cli/verb.h"
#include "ui/live/live_display.h"
#include "ui/report/terminal.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional(
      "paths", "files or directories of a run that is going; waited for where they, or logs in them, are not there yet",
      true, false);
  spec.option("pid", "N", "a process that somebody else started: what it writes is found and read, its end is seen");
  spec.option("name", "NAME", "name of the run in 'midwatch runs' (default: from the paths, or the process)");
  spec.option("allow", "LIST", "with --pid: what midwatch may do to it when asked: pause, stop or pause,stop");
  spec.flag("json", "print every decision as one JSON line");
  spec.flag("quiet", "no live status lines on the terminal, only incidents");
  spec.option("config", "FILE", "settings (default: midwatch.toml here, if there is one); 'none': none");
  spec.option("home", "DIR", "where the run is recorded (default: $MIDWATCH_HOME, or ~/.local/state/midwatch)");
  spec.option("framework", "NAME", "do not recognise the framework, use this dialect");
  spec.option("timezone", "ZONE",
              "of clocks that name none: UTC, local, +08:00 (default: as the log shows while it is written)");
  spec.option("knowledge", "DIR", "also load dialects, signatures and rules from DIR");
  spec.option("poll", "TIME", "how often to poll where the kernel reports no changes (network file systems)", "1s");
  spec.flag("no-host", "do not watch the machine (disks, memory, processes, checkpoints), only the run's files");
  spec.option("exit-after-idle", "TIME", "stop when nothing new was written for so long; 0: never", "0");
}

/// Decisions as JSON lines on standard output.
void print_json(const Console& console, const Event& event) {
  const auto line = [&console](std::string_view what, uint32_t id, std::string_view body) {
    console.out(cat("{\"event\":\"", what, "\",\"incident\":", body, ",\"id\":", id, "}\n"));
  };
  if (const auto* opened = std::get_if<event::IncidentOpened>(&event.body)) line("opened", opened->id, opened->json);
  if (const auto* changed = std::get_if<event::IncidentChanged>(&event.body))
    line("changed", changed->id, changed->json);
  if (const auto* closed = std::get_if<event::IncidentClosed>(&event.body)) line("closed", closed->id, "null");
  if (const auto* verdict = std::get_if<event::VerdictGiven>(&event.body)) {
    console.out(cat("{\"event\":\"verdict\",\"verdict\":\"", verdict->verdict, "\"}\n"));
  }
  console.flush();
}

/// Paths, a process, or both.
Result<void> take_whom(const Args& args, AttachRequest& request) {
  request.paths = args.list("paths");
  const auto pid = parse_int(args.get("pid"));
  if (args.has("pid") && (!pid || *pid < 1)) {
    return Error{Error::Code::kInvalid, "--pid is the number of a process", "pgrep -af train shows some."};
  }
  if (args.has("pid")) request.pid = *pid;
  if (request.paths.empty() && request.pid == 0) {
    return Error{Error::Code::kInvalid, "there is nothing to watch", "Name the run's files, or its process: --pid N."};
  }
  if (args.has("allow") && request.pid == 0) {
    return Error{Error::Code::kInvalid, "--allow is for a process: --pid N", ""};
  }
  const std::string allow = args.get("allow");
  for (const std::string_view word : split(allow, ',')) {
    if (word.empty()) continue;
    if (word != "pause" && word != "stop") {
      return Error{Error::Code::kInvalid, cat("--allow cannot be '", word, "'"), "It is pause, stop or pause,stop."};
    }
    request.allow.emplace_back(word);
  }
  return {};
}

/// What a person calls it: the folder, or the process.
std::string watched_name(const AttachRequest& request) {
  if (request.paths.empty()) return cat("process ", request.pid);
  std::string_view path = request.paths.front();
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == "." || path == ".." ? "" : std::string(basename(path));
}

Exit run(const Args& args, Services& services, const Console& console) {
  AttachRequest request;
  if (const auto done = services.configure(args.get("config"), request); !done.ok()) {
    return report_error(console, done.error());
  }
  if (const auto whom = take_whom(args, request); !whom.ok()) return report_error(console, whom.error());
  if (args.has("framework")) request.framework = args.get("framework");
  if (args.has("name")) request.run = args.get("name");
  if (args.has("timezone")) request.timezone = args.get("timezone");
  if (args.has("knowledge")) request.knowledge = args.list("knowledge");
  if (args.has("home")) request.home = args.get("home");
  const auto poll = take_duration(args, "poll", Duration{1}), idle = take_duration(args, "exit-after-idle");
  if (!poll.ok()) return report_error(console, poll.error());
  if (!idle.ok()) return report_error(console, idle.error());
  if (args.has("poll")) request.poll_s = poll->seconds();
  if (args.has("exit-after-idle")) request.exit_after_idle_s = idle->seconds();
  if (args.has("no-host")) request.host = false;
  const bool json = args.has("json");
  ShownIncidents shown(console, Severity::kInfo);
  if (console.err_is_terminal) console.err("watching; Ctrl-C ends the watch, the run goes on\n");
  const auto live = json || args.has("quiet") ? nullptr : LiveDisplay::make(console, watched_name(request));
  request.decided = [&](const State& state, const Event& event) {
    if (json) return print_json(console, event);
    if (live != nullptr) return live->say(shown.text(state, event));
    console.out(shown.text(state, event));
    console.flush();
  };
  request.say = [&](const std::string& sentence) {
    const std::string line = cat("midwatch: ", escape_terminal(sentence), "\n");
    live != nullptr ? live->say(line) : console.err(line);
  };
  if (live != nullptr) {
    request.live = [&live](const State& state, const LiveFacts& facts) { live->show(state, facts); };
  }
  auto replayed = services.attach(request);
  if (live != nullptr) live->close();
  if (!replayed.ok()) return report_error(console, replayed.error());
  if (!json) console.out(terminal_brief(**replayed, console, "More: midwatch replay --full PATH"));
  for (const std::string& note : (*replayed)->notes) console.err(cat("note: ", escape_terminal(note), "\n"));
  return (*replayed)->partial ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb attach;
const Verb attach = {"attach",
                     "Watch a run that is going: prints incidents as they open, does nothing to it unless allowed",
                     "  midwatch attach outputs/my-run/\n"
                     "  midwatch attach train.log --name gsm8k-8b      what the other verbs call it\n"
                     "  midwatch attach train.log --json | tee incidents.jsonl\n"
                     "  midwatch attach train.log --exit-after-idle 600\n"
                     "  midwatch attach --pid 4711                     its logs are found; the watch ends with it\n"
                     "  midwatch attach --pid 4711 --allow pause,stop  midwatch pause, resume and stop work on it\n",
                     declare,
                     run,
                     false};
}  // namespace verbs

}  // namespace mw
