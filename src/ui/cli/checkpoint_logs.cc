// midwatch checkpoint logs: receives the journals and logs that were shipped beside a run's checkpoints.
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("place", "s3://BUCKET/RUN, or a folder, also on a file server", false, true);
  spec.positional("dir", "a folder, in which one is made for each run that shipped there", false, true);
  declare_store(spec);
  spec.flag("json", "print it as JSON, schema midwatch.logs/1");
}

std::string logs_json(const LogsAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.logs/1").key("runs").begin_array();
    for (const LogsAnswer::Run& run : answer.runs) {
      json.begin_object().key("run").string(run.name).key("folder").string(run.folder);
      json.key("files").integer(run.files).key("bytes").integer(run.bytes).end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

std::string logs_text(const LogsAnswer& answer) {
  std::string out;
  for (const LogsAnswer::Run& run : answer.runs) {
    out += cat(escape_terminal(run.folder), ": ", run.files, run.files == 1 ? " file, " : " files, ",
               format_bytes(static_cast<double>(run.bytes)), ". midwatch report --run ", escape_terminal(run.folder),
               "\n");
  }
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto store = take_store(args, args.get("place"));
  if (!store.ok()) return report_error(console, store.error());
  if (const auto named = must_name("DIR", args.get("dir")); !named.ok()) return report_error(console, named.error());
  const auto answer = services.shipped_logs({std::move(*store), args.get("dir")});
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? logs_json(*answer) : logs_text(*answer));
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_logs;
const Verb checkpoint_logs = {"checkpoint logs", "Receive the journal and logs of a run whose machine was lost",
                              "  midwatch checkpoint logs s3://bucket/run lost/\n"
                              "  midwatch report --run lost/20260219-090811-train\n"
                              "\nA run with a store ships them each minute, and once more when it is over.\n",
                              declare, run};
}  // namespace verbs

}  // namespace mw
