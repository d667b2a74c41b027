// midwatch tell: a person's word for the record: a note, a lesson, a tag.
#include "base/text.h"
#include "core/notes.h"
#include "ui/cli/ask.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("words", "what to note", true, false);
  spec.option("lesson", "TEXT", "note what the next run should know; lessons are collected by midwatch runs export");
  spec.option("tag", "TAG", "give the run a tag, to find it by: midwatch runs --tag TAG");
  spec.option("untag", "TAG", "take a tag away");
  declare_ask(spec);
}

Error wrong(std::string what, std::string hint) { return {Error::Code::kInvalid, std::move(what), std::move(hint)}; }

Result<RunAsk> ask_of(const Args& args) {
  RunAsk ask;
  for (const std::string& word : args.list("words")) ask.text += (ask.text.empty() ? "" : " ") + word;
  size_t given = trim(ask.text).empty() ? 0 : 1;
  for (const std::string_view kind : {kLesson, kTag, kUntag}) {
    if (!args.has(kind)) continue;
    ++given;
    ask.kind = kind;
    ask.text = args.get(kind);
  }
  if (trim(ask.text).empty()) return wrong("there is nothing to note", "midwatch tell \"lowered lr\"");
  if (given > 1) return wrong("one thing at a time", "Note, lesson and tag are a command each.");
  if ((ask.kind == kTag || ask.kind == kUntag) && !is_tag(ask.text))
    return wrong(cat("'", ask.text, "' cannot be a tag"), "Use letters, digits and -_.:/+ without spaces.");
  return ask;
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto ask = ask_of(args);
  if (!ask.ok()) return report_error(console, ask.error());
  return ask_run(args, services, console, *ask,
                 ask->kind == kTag     ? "tagged."
                 : ask->kind == kUntag ? "the tag is gone."
                                       : "noted.");
}

}  // namespace

namespace verbs {
extern const Verb tell;
const Verb tell = {"tell", "Note what a person did, saw or learnt, with its time and step, in the run's record",
                   "  midwatch tell \"lowered lr to 5e-7\"\n"
                   "  midwatch tell --run 20260219-090811-train \"node 3 was swapped\"\n"
                   "  midwatch tell --lesson \"local executor: 7x faster than the remote one\"\n"
                   "  midwatch tell --tag ablation\n"
                   "\nNotes stand in midwatch status, in the report and in midwatch runs show, also those on a run\n"
                   "that is over. Secrets in them are redacted.\n",
                   declare, run};
}  // namespace verbs

}  // namespace mw
