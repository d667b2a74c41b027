// midwatch preflight: what is wrong before money is spent.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"
#include "ui/report/paint.h"

namespace mw {
namespace {

using preflight::Finding;
using preflight::Level;

constexpr size_t kLines = 12;  // of one sentence

void declare(ArgSpec& spec) {
  spec.option("config", "FILE",
              "a configuration file of the trainer, on top of those that the command names (repeatable)");
  spec.flag("strict", "exit with 10 on warnings, too");
  spec.option("gpus", "COUNTxGPU", "the machine that will train is elsewhere and has these: 2xH100, 8x80GB");
  spec.option("disk", "SIZE", "what is free there for checkpoints: 500GB");
  spec.option("like", "RUN", "take the size of a checkpoint from this run: its name or folder, or files of it");
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  spec.option("ignore", "LINT", "leave this lint out (repeatable); docs/preflight.md lists them");
  spec.flag("json", "print it as JSON, schema midwatch.preflight/1");
}

size_t count(const PreflightAnswer& answer, Level level) {
  return static_cast<size_t>(std::count_if(answer.findings.begin(), answer.findings.end(),
                                           [&](const Finding& one) { return one.level == level; }));
}

void put_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

std::string preflight_json(const PreflightAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.preflight/1").key("framework").string(answer.framework);
    json.key("version").string(answer.version).key("model").string(answer.model).key("machine").string(answer.machine);
    put_texts(json, "command", answer.command);
    put_texts(json, "files", answer.files);
    json.key("settings")
        .integer(static_cast<int64_t>(answer.settings))
        .key("lints")
        .integer(static_cast<int64_t>(answer.lints));
    json.key("errors").integer(static_cast<int64_t>(count(answer, Level::kError)));
    json.key("warnings").integer(static_cast<int64_t>(count(answer, Level::kWarning)));
    json.key("findings").begin_array();
    for (const Finding& finding : answer.findings) {
      json.begin_object().key("lint").string(finding.lint).key("level").string(level_word(finding.level));
      json.key("file").string(finding.place.file).key("line");
      finding.place.line > 0 ? json.integer(finding.place.line) : json.null();
      json.key("of_machine")
          .boolean(finding.on_machine)
          .key("key")
          .string(finding.key)
          .key("value")
          .string(finding.value);
      json.key("what").string(finding.what).key("why").string(finding.why).key("fix").string(finding.fix);
      json.key("source").string(finding.source).end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

/// "rl.toml:21", "the machine", "the command line".
std::string where_of(const Finding& finding) {
  if (finding.on_machine) return "the machine";
  if (finding.place.file.empty() && finding.key.empty()) return "the command";
  return place_text(finding.place);
}

std::string finding_text(const Finding& finding, const Painter& paint) {
  const std::string level = finding.level == Level::kError     ? "ERROR"
                            : finding.level == Level::kWarning ? "WARNING"
                                                               : "NOTE";
  const auto colour = finding.level == Level::kError     ? &Painter::red
                      : finding.level == Level::kWarning ? &Painter::yellow
                                                         : &Painter::dim;
  const std::string value =
      finding.key.empty() || finding.value.empty() ? "" : cat("  ", finding.key, " = ", clip(finding.value, 120));
  std::string out = paint.hanging(pad(level, 9), cat(where_of(finding), value), kLines, nullptr, colour);
  out += paint.hanging("         ", finding.what, kLines, &Painter::bold);
  if (finding.level != Level::kNote) out += paint.hanging("  why    ", finding.why, kLines);
  out += paint.hanging("  fix    ", finding.fix, kLines);
  if (finding.level != Level::kNote)
    out += paint.hanging("  source ", cat(finding.source, " [", finding.lint, "]"), kLines, &Painter::dim);
  return out;
}

std::string number_of(size_t number, std::string_view one) { return cat(number, " ", one, number == 1 ? "" : "s"); }

std::string preflight_text(const PreflightAnswer& answer, const Console& console) {
  const Painter paint(console);
  std::string head = answer.framework.empty() ? "framework not recognised" : answer.framework;
  if (!answer.version.empty()) head += cat(" ", answer.version);
  if (!answer.model.empty()) head += cat(" · ", answer.model);
  for (const std::string& file : answer.files) head += cat(" · ", file);
  head += cat(" · ", answer.machine);
  std::string out = paint.hanging("", head, kLines, &Painter::dim);
  for (const Finding& finding : answer.findings) out += cat("\n", finding_text(finding, paint));
  const size_t errors = count(answer, Level::kError), warnings = count(answer, Level::kWarning);
  const std::string checked = cat(number_of(answer.settings, "setting"), ", ", answer.lints, " lints and rules");
  const std::string result = errors + warnings == 0 ? cat("nothing to mend (", checked, ")")
                                                    : cat(number_of(errors, "error"), ", ",
                                                          number_of(warnings, "warning"), " (", checked, ")");
  out += paint.hanging("\n", result, kLines,
                       errors > 0     ? &Painter::red
                       : warnings > 0 ? &Painter::yellow
                                      : &Painter::green);
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  PreflightRequest request;
  request.command = args.list("command");
  request.files = args.list("config");
  request.gpus = args.get("gpus");
  request.disk = args.get("disk");
  request.like = args.get("like");
  request.home = args.get("home");
  request.ignored = args.list("ignore");
  if (request.command.empty() && request.files.empty()) {  // what `midwatch run` would start
    RunRequest settings;
    if (const auto done = services.configure("", settings); !done.ok()) return report_error(console, done.error());
    request.command = settings.spec.command;
  }
  const auto answer = services.preflight(request);
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? preflight_json(*answer) : preflight_text(*answer, console));
  const bool bad = count(*answer, Level::kError) > 0 || (args.has("strict") && count(*answer, Level::kWarning) > 0);
  return bad ? Exit::kIncident : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb preflight;
const Verb preflight = {
    "preflight",
    "What is wrong with a training command before it is started: settings, machine, disk, logins",
    "  midwatch preflight -- bash train.sh\n"
    "  midwatch preflight -- uv run rl @ rl.toml --ckpt --ckpt.interval 5\n"
    "  midwatch preflight --gpus 2xH100 --disk 500GB --config rl.toml      before the machine is rented\n"
    "  midwatch preflight --strict -- bash train.sh && midwatch run -- bash train.sh\n"
    "\nNothing is started or written, scripts are read and never run. Exit status: 0 nothing must be mended, 10 an "
    "error\n"
    "was found (with --strict: or a warning). docs/preflight.md lists what is looked for, and why.\n",
    declare,
    run,
    false,
    true};
}  // namespace verbs

}  // namespace mw
