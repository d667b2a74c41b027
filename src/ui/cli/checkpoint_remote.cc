// midwatch checkpoint remote: what a run has in an object store.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

using Checkpoint = RemoteAnswer::Checkpoint;

void declare(ArgSpec& spec) {
  spec.positional("place", "s3://BUCKET/RUN, or a folder, also on a file server", false, true);
  spec.flag("check", "ask the store for every file of every checkpoint");
  declare_store(spec);
  spec.flag("json", "print it as JSON, schema midwatch.remote/1");
}

std::string remote_json(const RemoteAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.remote/1").key("epoch").integer(answer.epoch);
    json.key("checkpoints").begin_array();
    for (const Checkpoint& one : answer.checkpoints) {
      json.begin_object().key("checkpoint").string(one.id).key("step").integer(one.step);
      json.key("latest").boolean(one.latest).key("bytes").integer(one.bytes).key("files").integer(one.files);
      json.key("pushed").string(format_utc(one.pushed)).key("scanned").string(one.scanned);
      json.key("verified").string(one.verified).key("epoch").integer(one.epoch).key("parent").string(one.parent);
      json.key("name").string(one.name).key("framework").string(one.framework).key("run").begin_object();
      for (const auto& [name, value] : one.run) json.key(name).string(value);
      json.end_object().key("trouble").string(one.trouble).end_object();
    }
    json.end_array().key("notes").begin_array();
    for (const std::string& note : answer.notes) json.string(note);
    json.end_array().end_object();
  }
  return out + "\n";
}

std::string cell(std::string_view text, size_t width, bool right = false) {
  const size_t missing = width - std::min(width, text.size());
  return right ? cat(std::string(missing, ' '), text) : cat(text, std::string(missing, ' '));
}

std::string remote_text(const RemoteAnswer& answer) {
  std::string out;
  for (const std::string& note : answer.notes) out += escape_terminal(note) + "\n";
  if (answer.checkpoints.empty()) return out + "There is no checkpoint.\n";
  out += cat(cell("step", 12, true), "  ", cell("size", 10, true), "  ", cell("files", 7, true), "  ",
             cell("pushed", 20), "  ", cell("verified by", 11), "\n");
  for (const Checkpoint& one : answer.checkpoints) {
    const bool last = !one.latest && one.trouble.empty();  // nothing stands behind it
    out += cat(cell(std::to_string(one.step), 12, true), "  ",
               cell(format_bytes(static_cast<double>(one.bytes)), 10, true), "  ",
               cell(std::to_string(one.files), 7, true), "  ", cell(format_utc(one.pushed).substr(0, 19) + "Z", 20),
               "  ", cell(escape_terminal(one.verified), last ? 0 : 11), one.latest ? "  latest" : "",
               one.trouble.empty() ? "" : cat("  ", escape_terminal(one.trouble)), "\n");
  }
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto store = take_store(args, args.get("place"));
  if (!store.ok()) return report_error(console, store.error());
  const auto answer = services.remote_checkpoints({std::move(*store), args.has("check")});
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? remote_json(*answer) : remote_text(*answer));
  const bool latest_is_right =
      answer->notes.empty() && std::none_of(answer->checkpoints.begin(), answer->checkpoints.end(),
                                            [](const Checkpoint& one) { return one.latest && !one.trouble.empty(); });
  return latest_is_right ? Exit::kOk : Exit::kPartial;
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_remote;
const Verb checkpoint_remote = {
    "checkpoint remote", "List the checkpoints that a run has in an object store, and which one is latest",
    "  midwatch checkpoint remote s3://bucket/run\n"
    "  midwatch checkpoint remote /mnt/share/run --check --json\n"
    "\nExit codes: 0 latest names a checkpoint that is there, or none yet · 5 what it names is missing or damaged.\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
