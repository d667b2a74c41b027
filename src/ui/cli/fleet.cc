// midwatch fleet: machines for a run, rented when one is lost and given back when it is over.
#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "ui/cli/fleet_text.h"
#include "ui/cli/take_duration.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

using What = FleetRequest::What;

void declare_file(ArgSpec& spec) {
  spec.positional("file", "the specification: what the run needs, what it may cost, who rents machines out", false,
                  true);
}

void declare_json(ArgSpec& spec) { spec.flag("json", "print it as JSON, schema midwatch.fleet/1"); }

void declare(ArgSpec& spec) {
  declare_file(spec);
  declare_json(spec);
}

void declare_status(ArgSpec& spec) {
  spec.positional("file", "specifications, or folders of them (*.toml)", true, false);
  spec.option("store", "PLACE", "all runs below it: s3://BUCKET/PREFIX, or a folder");
  declare_place(spec);
  declare_json(spec);
}

void declare_watch(ArgSpec& spec) {
  declare_file(spec);
  spec.flag("once", "check once and end: for cron, a systemd timer, a scheduled CI job");
  spec.option("every", "TIME", "between two checks, from 10s to 1d", "5m");
  declare_json(spec);
}

void declare_adopt(ArgSpec& spec) {
  declare_file(spec);
  spec.positional("provider", "its name in the specification", false, true);
  spec.positional("instance", "as the provider calls it", false, true);
  declare_json(spec);
}

void declare_unfit(ArgSpec& spec) {
  spec.positional("reason", "why, in words", false, true);
  declare_json(spec);
}

Exit code_of(const FleetAnswer& answer) {
  if (answer.person) return Exit::kPerson;
  return answer.done.empty() ? Exit::kOk : Exit::kActed;
}

void print(const FleetAnswer& answer, const Args& args, const Console& console, bool short_form) {
  if (args.has("json")) return console.out(fleet_json(answer));
  if (!short_form) return console.out(fleet_text(answer, console));
  for (const std::string& done : answer.done) console.out(cat(escape_terminal(done), "\n"));
}

FleetRequest request_of(What what, const Args& args) {
  FleetRequest request;
  request.what = what;
  request.file = args.get("file");
  return request;
}

Exit ask(What what, const Args& args, Services& services, const Console& console) {
  const auto answer = services.fleet(request_of(what, args));
  if (!answer.ok()) return report_error(console, answer.error());
  print(*answer, args, console, false);
  if (what == What::kInit) return Exit::kOk;
  return code_of(*answer);
}

Exit init(const Args& args, Services& services, const Console& console) {
  return ask(What::kInit, args, services, console);
}

/// One specification is shown as a whole (the answer has no runs then); of several, of folders and of a store each run
/// is a line.
Exit status(const Args& args, Services& services, const Console& console) {
  FleetRequest request;
  request.files = args.list("file");
  if (request.files.empty() && !args.has("store")) {
    return report_error(console, {Error::Code::kInvalid, "which runs are meant is not said",
                                  "Name a specification, several, a folder of them, or --store PLACE."});
  }
  request.store = take_place(args, args.get("store"));
  const bool one = request.files.size() == 1 && !args.has("store");
  request.what = one ? What::kStatus : What::kList;
  if (one) request.file = request.files.front();
  const auto answer = services.fleet(request);
  if (!answer.ok()) return report_error(console, answer.error());
  if (answer->runs.empty()) {
    print(*answer, args, console, false);
    return answer->person ? Exit::kPerson : Exit::kOk;
  }
  console.out(args.has("json") ? fleet_list_json(*answer) : fleet_list_text(*answer, console));
  const bool unread = std::any_of(answer->runs.begin(), answer->runs.end(),
                                  [](const FleetAnswer& run) { return !run.trouble.empty(); });
  return answer->person ? Exit::kPerson : unread ? Exit::kPartial : Exit::kOk;
}
void declare_launch(ArgSpec& spec) {
  declare_file(spec);
  spec.flag("dry-run", "show what would be sent to the provider, and rent nothing");
  declare_json(spec);
}

Exit preview(const Args& args, Services& services, const Console& console) {
  const auto answer = services.fleet(request_of(What::kPreview, args));
  if (!answer.ok()) return report_error(console, answer.error());
  if (args.has("json")) {
    console.out(fleet_json(*answer));
  } else if (answer->preview.empty()) {
    console.out(fleet_offers_text(*answer, console));
  } else {
    for (const std::string_view line : split(trim(answer->preview), '\n'))
      console.out(cat(escape_terminal(line), "\n"));
  }
  return Exit::kOk;
}

Exit launch(const Args& args, Services& services, const Console& console) {
  if (args.has("dry-run")) return preview(args, services, console);
  return ask(What::kLaunch, args, services, console);
}
Exit stop(const Args& args, Services& services, const Console& console) {
  return ask(What::kStop, args, services, console);
}

Exit watch(const Args& args, Services& services, const Console& console) {
  if (args.has("once")) return ask(What::kWatch, args, services, console);
  const auto every = take_duration(args, "every", Duration::seconds(10));
  if (!every.ok()) return report_error(console, every.error());
  FleetRequest request = request_of(What::kWatch, args);
  request.every = *every;
  request.checked = [&](const Result<FleetAnswer>& answer) {
    if (answer.ok()) {
      print(*answer, args, console, false);
    } else {
      (void)report_error(console, answer.error());
    }
    console.flush();
  };
  const auto answer = services.fleet(request);
  return answer.ok() ? code_of(*answer) : report_error(console, answer.error());
}

void declare_offers(ArgSpec& spec) {
  spec.positional("file", "the specification: what the run needs, and who rents machines out (default: as below)",
                  false, false);
  spec.option("gpu", "NAME", "each word of it must stand in the offer's: H100, \"RTX 4090\"");
  spec.option("count", "N", "GPUs of a machine, at least");
  spec.option("gpu-memory", "SIZE", "of each GPU, at least: 80GB");
  spec.option("disk", "SIZE", "of the machine, at least: 200GB");
  spec.option("max-price", "PRICE", "of a machine and an hour, at most");
  spec.option("provider", "KIND", "ask this one (default: all whose key is in the environment)");
  spec.option("endpoint", "URL", "another address of that provider's API");
  declare_json(spec);
}

/// A size or a number of an option into `out`; "" where all is well, else what is wrong.
std::string take_wanted(const Args& args, std::string_view option, int64_t& out) {
  if (!args.has(option)) return "";
  const std::string text = args.get(option);
  const bool count = option == "count";
  const auto whole = count ? parse_int(text) : std::nullopt;
  const auto size = count ? Result<int64_t>(whole.value_or(0)) : parse_size(text);
  if (!size.ok() || *size <= 0) return cat("--", option, ": ", text, count ? " is no number of GPUs" : " is no size");
  out = *size;
  return "";
}

Exit offers(const Args& args, Services& services, const Console& console) {
  FleetRequest request = request_of(What::kOffers, args);
  request.provider = args.get("provider");
  request.endpoint = args.get("endpoint");
  request.wants.gpu = args.get("gpu");
  std::string wrong = take_wanted(args, "count", request.wants.count);
  if (wrong.empty()) wrong = take_wanted(args, "gpu-memory", request.wants.gpu_memory);
  if (wrong.empty()) wrong = take_wanted(args, "disk", request.wants.disk);
  const auto price = args.has("max-price") ? parse_double(args.get("max-price")) : std::nullopt;
  if (args.has("max-price") && !(price.value_or(0) > 0))
    wrong = cat("--max-price: ", args.get("max-price"), " is no price");
  const bool words = args.has("gpu") || args.has("count") || args.has("gpu-memory") || args.has("disk") ||
                     args.has("max-price") || args.has("provider") || args.has("endpoint");
  if (words && !request.file.empty()) wrong = "a specification says itself what is wanted";
  if (!wrong.empty()) return report_error(console, {Error::Code::kInvalid, wrong, "midwatch fleet offers --help"});
  request.max_price = price.value_or(0);
  const auto answer = services.fleet(request);
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? fleet_json(*answer) : fleet_offers_text(*answer, console));
  return Exit::kOk;
}

Exit orphans(const Args& args, Services& services, const Console& console) {
  const auto answer = services.fleet(request_of(What::kOrphans, args));
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? fleet_json(*answer) : fleet_orphans_text(*answer, console));
  return !answer->orphans.empty() ? Exit::kPerson : answer->all_seen ? Exit::kOk : Exit::kPartial;
}

Exit adopt(const Args& args, Services& services, const Console& console) {
  FleetRequest request = request_of(What::kAdopt, args);
  request.provider = args.get("provider");
  request.instance = args.get("instance");
  const auto answer = services.fleet(request);
  if (!answer.ok()) return report_error(console, answer.error());
  print(*answer, args, console, false);
  return Exit::kActed;
}

Exit unfit(const Args& args, Services& services, const Console& console) {
  FleetRequest request;
  request.what = What::kUnfit;
  request.reason = args.get("reason");
  const auto answer = services.fleet(request);
  if (!answer.ok()) return report_error(console, answer.error());
  print(*answer, args, console, true);
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb fleet_init, fleet_status, fleet_watch, fleet_offers, fleet_launch, fleet_stop, fleet_adopt,
    fleet_orphans, fleet_unfit;
const Verb fleet_init = {"fleet init", "Put a run's specification into its store, and try what is needed of the store",
                         "  midwatch fleet init run.toml\n"
                         "\nNothing is rented. docs/fleet.md has the file, and how to set it up.\n",
                         declare, init};
const Verb fleet_status = {"fleet status", "How a run on rented machines stands, by which witnesses, what it has cost",
                           "  midwatch fleet status run.toml              one run, and each of its machines\n"
                           "  midwatch fleet status a.toml b.toml specs/  a line for each\n"
                           "  midwatch fleet status --store s3://bucket   all runs below that place\n"
                           "\nNothing is done. By a store alone no provider is asked: what a machine says of\n"
                           "itself, and its silence, decide. Exit codes: 0 well · 9 a person must look at\n"
                           "one · 5 one could not be read.\n",
                           declare_status, status};
const Verb fleet_watch = {"fleet watch", "Check a run, and rent another machine when its own is lost",
                          "  midwatch fleet watch run.toml              every minute, until a signal\n"
                          "  midwatch fleet watch run.toml --once       from cron or a scheduled CI job\n"
                          "\nSeveral may run at once, anywhere, and be killed at any moment: one machine is\n"
                          "rented. Exit codes of --once: 0 nothing to do · 8 it did something ·\n"
                          "9 a person must look at it.\n",
                          declare_watch, watch};
const Verb fleet_offers = {"fleet offers", "What may be rented now within the limits, the best of each provider first",
                           "  midwatch fleet offers run.toml\n"
                           "  midwatch fleet offers --gpu H100 --count 2 --max-price 5    without a file\n"
                           "\nNothing is rented. Without a file all of vast, runpod, prime and lambda are asked whose\n"
                           "key is in the environment (VAST_API_KEY, RUNPOD_API_KEY, PRIME_API_KEY, LAMBDA_API_KEY).\n",
                           declare_offers, offers};
const Verb fleet_launch = {"fleet launch", "Rent the first machine of a run, or one after it had stopped",
                           "  midwatch fleet launch run.toml\n"
                           "  midwatch fleet launch run.toml --dry-run    the request or manifest; nothing is rented\n"
                           "\nExit codes: 0 it was launched already · 8 launched · 9 a person must look at it.\n",
                           declare_launch, launch};
const Verb fleet_stop = {"fleet stop", "Give a run's machine back, and rent none",
                         "  midwatch fleet stop run.toml\n"
                         "\nThe machine's midwatch ends its command at its next heartbeat, within a minute.\n"
                         "What is not in the store by then is lost with the machine.\n",
                         declare, stop};
const Verb fleet_adopt = {"fleet adopt", "Make a machine that you rented by hand the run's machine",
                          "  midwatch fleet adopt run.toml vast 29547800\n"
                          "\nIt prints the variables that midwatch on that machine must be given.\n",
                          declare_adopt, adopt};
const Verb fleet_orphans = {"fleet orphans", "What is rented under midwatch's labels and belongs to no run",
                            "  midwatch fleet orphans run.toml\n"
                            "\nExit codes: 0 none · 9 there are some · 5 a provider was not heard, or could not\n"
                            "list all that is rented.\n",
                            declare, orphans};
const Verb fleet_unfit = {"fleet unfit",
                          "On a rented machine: say that it is not fit for its run, so that it is given back",
                          "  midwatch fleet unfit \"no GPU\"\n"
                          "\nFor start scripts: midwatch onstart … || midwatch fleet unfit \"onstart failed\"\n",
                          declare_unfit, unfit};
}  // namespace verbs

}  // namespace mw
