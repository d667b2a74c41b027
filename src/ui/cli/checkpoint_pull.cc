// midwatch checkpoint pull: receives the newest verified checkpoint of a run.
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("place", "s3://BUCKET/RUN, or a folder, also on a file server", false, true);
  spec.positional("dir", "the folder that is made for it", false, true);
  spec.option("step", "N", "that step (default: the newest)");
  declare_store(spec);
  spec.flag("json", "print it as JSON, schema midwatch.pull/1");
}

std::string pull_json(const PullAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.pull/1").key("folder").string(answer.folder);
    json.key("checkpoint").string(answer.checkpoint).key("name").string(answer.name).key("step").integer(answer.step);
    json.key("files").integer(answer.files).key("bytes").integer(answer.bytes);
    json.key("received").integer(answer.received).key("latest").boolean(answer.latest);
    json.key("pushed").string(format_utc(answer.pushed)).key("framework").string(answer.framework);
    json.key("layout").string(answer.layout).key("run").begin_object();
    for (const auto& [name, value] : answer.run) json.key(name).string(value);
    json.end_object().key("notes").begin_array();
    for (const std::string& note : answer.notes) json.string(note);
    json.end_array().key("seconds").number(answer.seconds).end_object();
  }
  return out + "\n";
}

std::string pull_text(const PullAnswer& answer) {
  std::string out;
  for (const std::string& note : answer.notes) out += escape_terminal(note) + "\n";
  out += cat("step ", answer.step, " lies in ", escape_terminal(answer.folder), "\n  ", answer.files,
             answer.files == 1 ? " file, " : " files, ", format_bytes(static_cast<double>(answer.bytes)),
             ", each compared with its checksum; received ", transfer_text(answer.received, answer.seconds),
             answer.received < answer.bytes ? ", the rest was there from an earlier try" : "", "\n  ");
  out += cat(answer.latest ? "latest names it" : "latest does not name it", "; pushed ", format_utc(answer.pushed));
  if (!answer.name.empty()) out += cat("; its folder was called ", escape_terminal(answer.name));
  for (const auto& [name, value] : answer.run) out += cat("\n  ", escape_terminal(name), ": ", escape_terminal(value));
  return out + "\n";
}

Exit run(const Args& args, Services& services, const Console& console) {
  PullRequest request;
  auto store = take_store(args, args.get("place"));
  if (!store.ok()) return report_error(console, store.error());
  const auto step = take_step(args);
  if (!step.ok()) return report_error(console, step.error());
  request.store = std::move(*store);
  request.store.progress = progress_line(console, args, "receiving");
  request.folder = args.get("dir");
  if (const auto named = must_name("DIR", request.folder); !named.ok()) return report_error(console, named.error());
  request.step = *step;
  const auto answer = services.pull_checkpoint(request);
  end_progress(console, args);
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? pull_json(*answer) : pull_text(*answer));
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_pull;
const Verb checkpoint_pull = {"checkpoint pull", "Receive the newest verified checkpoint of a run from an object store",
                              "  midwatch checkpoint pull s3://bucket/run ckpts/global_step_40\n"
                              "  midwatch checkpoint pull /mnt/share/run restored --step 40 --json\n"
                              "\nThe folder is there with all of it afterwards, or it is not there: what comes is "
                              "compared with its checksums while\n"
                              "it is written beside, into DIR.partial-ID, from which the same command goes on. A "
                              "checkpoint that is damaged in the\n"
                              "store is passed over for the one before it, and that is reported.\n",
                              declare, run};
}  // namespace verbs

}  // namespace mw
