// midwatch checkpoint push: ships a checkpoint to an object store.
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

using Latest = PushAnswer::Latest;

void declare(ArgSpec& spec) {
  spec.positional("path",
                  "a checkpoint (a folder, or a file), or the folder of several: then the newest that is not broken",
                  false, true);
  spec.positional("place", "s3://BUCKET/RUN, or a folder, also on a file server", false, true);
  spec.option("step", "N", "its step (default: as its name says), or which one of several");
  spec.flag("allow-older", "let latest go back to this step where it names a later one");
  spec.flag("allow-suspect",
            "ship it, and move latest to it, also where 'verify' finds it suspect, a resume needs what is not in it, "
            "or latest "
            "is another framework's");
  declare_store(spec);
  spec.flag("json", "print it as JSON, schema midwatch.push/1");
}

std::string_view word_of(Latest latest) {
  return latest == Latest::kMoved ? "moved" : latest == Latest::kKept ? "kept" : "fenced";
}

std::string push_json(const PushAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.push/1").key("path").string(answer.path);
    json.key("checkpoint").string(answer.checkpoint).key("step").integer(answer.step);
    json.key("files").integer(answer.files).key("bytes").integer(answer.bytes).key("sent").integer(answer.sent);
    json.key("already_there").boolean(answer.there).key("scanned").string(answer.scanned);
    json.key("verified").string(answer.verified).key("latest").string(word_of(answer.latest));
    json.key("latest_before");
    answer.latest_before == kNoStep ? json.null() : json.integer(answer.latest_before);
    json.key("epoch").integer(answer.epoch).key("conditional_writes").boolean(answer.swaps);
    json.key("lacks").string(answer.lacks).key("notes").begin_array();
    for (const std::string& note : answer.notes) json.string(note);
    json.end_array().key("seconds").number(answer.seconds).end_object();
  }
  return out + "\n";
}

std::string latest_text(const PushAnswer& answer) {
  const std::string before = answer.latest_before == kNoStep ? "" : cat(" (before: step ", answer.latest_before, ")");
  switch (answer.latest) {
    case Latest::kMoved:
      return answer.latest_before == answer.step ? "latest names it" : cat("latest names it now", before);
    case Latest::kKept:
      if (answer.scanned != "whole" && answer.latest_before < answer.step)
        return cat("latest stays at step ", answer.latest_before,
                   ", which is whole as far as its files prove it. --allow-suspect moves it to this one");
      if (!answer.lacks.empty() && answer.latest_before < answer.step)
        return cat("latest stays at step ", answer.latest_before,
                   ", from which a trainer can resume. --allow-suspect moves it to this one");
      return "latest names a later step. --allow-older moves it back to this one";
    case Latest::kFenced:
      return "latest was left alone: another midwatch began to push meanwhile, and only that one may move it";
  }
  return "";
}

std::string push_text(const PushAnswer& answer) {
  std::string out = cat("step ", answer.step, ": ", escape_terminal(answer.path), "\n");
  const std::string size =
      cat(answer.files, answer.files == 1 ? " file, " : " files, ", format_bytes(static_cast<double>(answer.bytes)));
  if (answer.there) {
    out += cat("  ", size, ": in the store already, and whole\n");
  } else {
    const int64_t kept = answer.bytes - answer.sent;
    out += cat("  ", size, "; sent ", transfer_text(answer.sent, answer.seconds),
               kept > 0 ? cat(", the rest was there from an earlier try") : "", "\n");
  }
  out += cat("  verified by ", answer.verified == "checksums" ? "checksums" : "sizes; this store gives no checksums",
             answer.scanned == "whole" ? "; whole, as far as its files prove it"
                                       : "; nothing proves that it is whole, and nothing speaks against it",
             "\n  ", latest_text(answer), "\n");
  for (const std::string& note : answer.notes) out += cat("  note: ", escape_terminal(note), "\n");
  if (!answer.swaps) {
    out +=
        "  This store keeps no conditions on writes: latest is never torn and never goes back by itself, but two\n"
        "  midwatches that push at the same time may not learn of each other.\n";
  }
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  PushRequest request;
  auto store = take_store(args, args.get("place"));
  if (!store.ok()) return report_error(console, store.error());
  const auto step = take_step(args);
  if (!step.ok()) return report_error(console, step.error());
  request.store = std::move(*store);
  request.store.progress = progress_line(console, args, "sending");
  request.path = args.get("path");
  request.step = *step;
  request.older = args.has("allow-older");
  request.suspect = args.has("allow-suspect");
  const auto answer = services.push_checkpoint(request);
  end_progress(console, args);
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? push_json(*answer) : push_text(*answer));
  return answer->latest == Latest::kFenced ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_push;
const Verb checkpoint_push = {
    "checkpoint push", "Ship a checkpoint to an object store, verify it there, and move latest to it",
    "  midwatch checkpoint push ckpts/global_step_40 s3://bucket/run\n"
    "  midwatch checkpoint push ckpts s3://bucket/run            the newest one that is not broken\n"
    "  midwatch checkpoint push ckpts /mnt/share/run --step 40 --limit 50MB\n"
    "  midwatch checkpoint push ckpts/ckpt_40.pt s3://bucket/run a file: it comes back in a folder, step_40\n"
    "\nInterrupted or killed, the same command goes on where it was. latest moves only when every file is verified. A\n"
    "checkpoint that is broken, still being written, or found suspect by 'verify' is refused, and so is one that "
    "lacks\n"
    "what a resume needs where one before it has all. Credentials are those of AWS's own tools.\n"
    "Exit codes: 0 shipped · 2 refused · 3 no credentials, no such bucket · 5 shipped, but latest is another "
    "midwatch's.\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
