// midwatch onstart: goes on with a run on a fresh machine, from what was shipped before the last one was lost.
#include "base/text.h"
#include "ui/cli/run_words.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.option("from", "PLACE", "the run's store: s3://BUCKET/RUN, or a folder (default: place of [store])");
  declare_supervised(spec);
}

std::string start_text(const StartAnswer& answer, const std::string& place) {
  std::string out;
  for (const std::string& note : answer.pulled.notes) out += cat("midwatch: ", escape_terminal(note), "\n");
  if (answer.empty) {
    return out + cat("midwatch: there is no checkpoint in ", escape_terminal(place),
                     answer.pulled.notes.empty() ? ": the run begins from scratch\n" : ": nothing is received\n");
  }
  const PullAnswer& pulled = answer.pulled;
  const std::string folder = escape_terminal(pulled.folder);
  if (answer.further) {
    out += cat("midwatch: step ", pulled.step,
               answer.proven ? " is here and whole, " : " is here, nothing speaks against it, ",
               answer.shipped == kNoStep ? cat("and there is no checkpoint in ", escape_terminal(place))
                                         : cat("and further than step ", answer.shipped, ", the newest whole one in ",
                                               escape_terminal(place)),
               ": the run goes on from ", folder, "\n");
  } else {
    out += cat("midwatch: step ", pulled.step,
               answer.here ? " is here already, as it was shipped: " : " was received into ", folder,
               answer.here ? "" : cat(", ", transfer_text(pulled.received, pulled.seconds)), "\n");
  }
  if (!answer.pointer.empty()) {
    out += cat("midwatch: ", escape_terminal(answer.pointer), " names it",
               answer.pointer_was.empty() ? "" : cat(" (it said ", escape_terminal(answer.pointer_was), ")"), "\n");
  }
  if (const auto id = answer.environment.find("WANDB_RUN_ID"); id != answer.environment.end())
    out += cat("midwatch: W&B run ", escape_terminal(id->second), " goes on\n");
  return out;
}

/// What the first attempt finds.
void begin_from(const StartAnswer& answer, RunSpec& spec) {
  if (answer.empty) return;
  spec.first_step = static_cast<uint64_t>(answer.pulled.step);
  spec.first_words = answer.words;
  spec.first_root = answer.root;
  spec.first_shipped = !answer.further;
  for (const auto& [name, value] : answer.environment) spec.environment.emplace(name, value);
  if (spec.checkpoints.empty()) spec.checkpoints = {answer.root};
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto request = run_request(args, services);
  if (!request.ok()) return report_error(console, request.error());
  RunSpec& spec = request->spec;
  if (args.has("from")) {
    if (const auto named = must_name("--from", args.get("from")); !named.ok())
      return report_error(console, named.error());
    spec.store = args.get("from");
  }
  if (spec.store.empty()) {
    return report_error(console, {Error::Code::kInvalid, "where the run was shipped is not said",
                                  "Say --from s3://BUCKET/RUN, or place of [store] in midwatch.toml."});
  }
  StartRequest start{store_of(spec),
                     spec.checkpoints.empty() ? "" : spec.checkpoints.front(),
                     spec.command,
                     spec.resume,
                     request->framework,
                     request->knowledge,
                     request->home,
                     request->name,
                     spec.restarting == Mode::kAct || spec.unattended};
  start.store.progress = progress_line(console, args, "receiving");
  start.comparing = progress_line(console, args, "reading what is here");
  const auto answer = services.prepare_start(start);
  end_progress(console, args);
  if (!answer.ok()) return report_error(console, answer.error());
  if (!answer->taken.empty()) {
    console.err(cat("midwatch: ", escape_terminal(answer->taken), "\n  ", escape_terminal(answer->taken_hint), "\n"));
    return Exit::kTaken;
  }
  request->name = answer->name;
  if (!args.has("json")) console.err(start_text(*answer, spec.store));
  if (!answer->warning.empty()) console.err(cat("midwatch: ", escape_terminal(answer->warning), "\n"));
  begin_from(*answer, spec);
  request->receiving = answer->receiving;
  request->goes_on_from = answer->fingerprint;
  return run_and_show(args, services, console, std::move(*request));
}

}  // namespace

namespace verbs {
extern const Verb onstart;
const Verb onstart = {"onstart",
                      "Go on with a run on a fresh machine, from what was shipped to its store",
                      "  midwatch onstart --from s3://bucket/run -- bash train_grpo.sh\n"
                      "  midwatch onstart --from /mnt/share/run --checkpoints ckpts -- \\\n"
                      "      python train.py --config grpo.yaml {resume}\n"
                      "\nFor a machine's start-up script: the newest checkpoint that is whole in the\n"
                      "store is received and compared with its checksums, put where the command looks\n"
                      "for it, and the command is run as by 'midwatch run --store'. A checkpoint that\n"
                      "lies there already is used where all of its bytes are those that were shipped.\n"
                      "Where a whole one of the run is further than the store's, as after a reboot,\n"
                      "all of it is read, and the run goes on from that where its numbers are sane;\n"
                      "the trainer's pointer stays. To begin from an earlier one, move the later ones\n"
                      "away first. Broken ones in the way, and one that is not what was shipped, are\n"
                      "quarantined ('midwatch restore' puts them back; with [actions] restart =\n"
                      "\"ask\" or \"watch\" they stay, and that is said). With an empty store the run begins as its "
                      "trainer does by itself, and\n"
                      "that is said. The W&B run goes on under its id. What differs from the run that\n"
                      "shipped it (command, scripts, code, environment, packages, machine) is said\n"
                      "and recorded. Exit status: as of midwatch run; 3 when the store cannot be\n"
                      "reached or has nothing whole, or what lies here is in the way and stays; 11\n"
                      "when a run lives in that folder of checkpoints: nothing is begun or changed.\n",
                      declare,
                      run,
                      false,
                      true,
                      true};
}  // namespace verbs

}  // namespace mw
