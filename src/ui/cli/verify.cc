// midwatch verify: was a recorded run judged and decided as this program would?
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("run", "a run's folder, its name or the beginning of it (default: as midwatch status chooses)", false,
                  false);
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  spec.flag("json", "print it as JSON, schema midwatch.verify/1");
}

std::string verify_json(const VerifyAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.verify/1").key("run").string(answer.run);
    json.key("events").integer(static_cast<int64_t>(answer.events));
    json.key("judgements").integer(static_cast<int64_t>(answer.judgements));
    json.key("decisions").integer(static_cast<int64_t>(answer.decisions));
    json.key("same_knowledge").boolean(answer.same_knowledge);
    json.key("differing").integer(static_cast<int64_t>(answer.differing)).key("differences").begin_array();
    for (const std::string& one : answer.differences) json.string(one);
    json.end_array().key("damage").begin_array();
    for (const std::string& one : answer.damage) json.string(one);
    json.end_array().end_object();
  }
  return out + "\n";
}

std::string verify_text(const VerifyAnswer& answer) {
  std::string out = cat(escape_terminal(answer.run), ": ", answer.events, " events, ", answer.judgements,
                        " changes of incidents and verdict, ", answer.decisions,
                        answer.decisions == 1 ? " decision" : " decisions", " between attempts.\n");
  for (const std::string& one : answer.damage) out += cat("  damaged: ", escape_terminal(one), "\n");
  for (const std::string& one : answer.differences) out += cat("  ", escape_terminal(one), "\n");
  if (answer.differing > answer.differences.size()) {
    out += cat("  … and ", answer.differing - answer.differences.size(), " more\n");
  }
  if (answer.differing == 0) return out + "Made again, all of them are the same.\n";
  out += cat(answer.differing, answer.differing == 1 ? " differs" : " differ", " when made again.\n");
  if (!answer.same_knowledge) {
    out += "The run was watched by another build, or with other knowledge: that may be why.\n";
  }
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto answer = services.verify(args.get("home"), args.get("run"));
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? verify_json(*answer) : verify_text(*answer));
  if (answer->differing > 0) return Exit::kFailed;
  return answer->damage.empty() ? Exit::kOk : Exit::kPartial;
}

}  // namespace

namespace verbs {
extern const Verb verify;
const Verb verify = {
    "verify", "Fold a run's journal again: would this program judge and decide as it was decided then?",
    "  midwatch verify                         the run that was written last\n"
    "  midwatch verify ~/.local/state/midwatch/runs/NAME\n"
    "  midwatch verify NAME --json\n"
    "\nExit codes: 0 the same · 1 something differs · 5 the journal is damaged, the rest is the same.\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
