// midwatch tell: a person's word for the record.
#include "base/text.h"
#include "ui/cli/ask.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("words", "what to note", true, true);
  declare_ask(spec);
}

Exit run(const Args& args, Services& services, const Console& console) {
  RunAsk ask;
  for (const std::string& word : args.list("words")) ask.text += (ask.text.empty() ? "" : " ") + word;
  if (trim(ask.text).empty()) {
    return report_error(console, {Error::Code::kInvalid, "there is nothing to note", "midwatch tell \"lowered lr\""});
  }
  return ask_run(args, services, console, ask, "noted.");
}

}  // namespace

namespace verbs {
extern const Verb tell;
const Verb tell = {"tell", "Note what a person did or saw, with its time and step, in the run's record",
                   "  midwatch tell \"lowered lr to 5e-7\"\n"
                   "  midwatch tell --run 20260219-090811-train \"node 3 was swapped\"\n"
                   "\nNotes stand in midwatch status and in the report. Secrets in them are redacted.\n",
                   declare, run};
}  // namespace verbs

}  // namespace mw
