// midwatch notify --test: do messages arrive?
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("channel", "the channel of midwatch.toml to try (default: all)", false, false);
  spec.flag("test", "send a test message and say what came back");
  spec.option("config", "FILE", "settings (default: midwatch.toml here)");
  spec.flag("json", "machine-readable");
}

Exit run(const Args& args, Services& services, const Console& console) {
  if (!args.has("test")) {
    return report_error(console, {Error::Code::kInvalid, "midwatch notify sends test messages only; say --test", ""});
  }
  const auto results = services.notify_test(args.get("config"), args.get("channel"));
  if (!results.ok()) return report_error(console, results.error());
  bool all = true;
  std::string out;
  if (args.has("json")) {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("channels").begin_array();
    for (const NotifyResult& one : *results) {
      json.begin_object().key("name").string(one.name).key("kind").string(one.kind).key("ok").boolean(one.ok);
      json.key("said").string(one.said).key("seconds").number(one.seconds).end_object();
    }
    json.end_array().end_object();
  }
  for (const NotifyResult& one : *results) {
    all = all && one.ok;
    if (args.has("json")) continue;
    out += cat(escape_terminal(one.name), " (", escape_terminal(one.kind), "): ", one.ok ? "sent" : "FAILED", ", ",
               escape_terminal(one.said), ", ", format_short(one.seconds, 2), " s\n");
  }
  console.out(args.has("json") ? out + "\n" : out);
  return all ? Exit::kOk : Exit::kFailed;
}

}  // namespace

namespace verbs {
extern const Verb notify;
const Verb notify = {"notify", "Try the channels of midwatch.toml: send a test message, say what came back",
                     "  midwatch notify --test            # all channels; exit status 1 when one fails\n"
                     "  midwatch notify --test phone      # the one called phone\n"
                     "\nWhat is sent, to whom and when: docs/config.md, [notify]. What a webhook receives:\n"
                     "docs/formats/notification.md.\n",
                     declare, run};
}  // namespace verbs

}  // namespace mw
