// midwatch checkpoint prune: removes a run's old checkpoints by rules.
#include "base/numbers.h"
#include "base/text.h"
#include "ui/cli/clean_up.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.option("keep-last", "K", "keep the newest K that are proven whole, here or in the run's store", "2");
  spec.option("keep-every", "N", "keep those whose step N divides");
  spec.option("keep-best", "SIGNAL",
              "keep the one at whose step this signal was best: reward.mean; min:NAME, max:NAME where its name does "
              "not say which way is better");
  spec.flag("dry-run", "only say what would go, what stays, and why");
  spec.flag("yes", "remove it without asking");
  spec.option("run", "NAME",
              "which run: its name, the beginning of it, its folder, or a folder of its checkpoints (default: the live "
              "one, or with none live the one that was written last)");
  spec.or_bare();
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  spec.flag("json", "print it as JSON, schema midwatch.cleanup/1");
}

Result<int64_t> number(const Args& args, std::string_view name, int64_t least) {
  if (!args.has(name) && args.get(name).empty()) return int64_t{0};
  const auto value = parse_int(args.get(name));
  if (value && *value >= least && *value <= 1'000'000'000) return *value;
  return Error{Error::Code::kInvalid, cat("--", name, " takes a number from ", least, " up"), ""};
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto last = number(args, "keep-last", 1), every = number(args, "keep-every", 1);
  if (!last.ok()) return report_error(console, last.error());
  if (!every.ok()) return report_error(console, every.error());
  CleanupRequest request{args.get("home"), args.get("run"), {"old-checkpoints"}, {}, {}};
  request.retention = RetentionRules{*last, *every, args.get("keep-best")};
  return clean_up_after_yes(std::move(request), args, services, console);
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_prune;
const Verb checkpoint_prune = {"checkpoint prune",
                               "Remove a run's old checkpoints, all but the last ones, every Nth and the best",
                               "  midwatch checkpoint prune --keep-last 2 --keep-every 50 --dry-run\n"
                               "  midwatch checkpoint prune --keep-last 3 --keep-best reward.mean --yes\n"
                               "  midwatch checkpoint prune ckpts/ --dry-run     only what lies in that folder\n"
                               "\nOnly below the folders that were declared ([run] checkpoints, --checkpoints),\n"
                               "only what this run was seen to write, and only what is proven whole. Never: the\n"
                               "newest whole one, the one that a resume should begin from, the last K from\n"
                               "before an open failure of learning, the newest that was read in full and found\n"
                               "sane, what another run may have written, what the trainer's pointer names, what\n"
                               "is being shipped, and where the run has a store, what is newer than the newest\n"
                               "that was shipped. Each is renamed first, then deleted. What midwatch quarantined\n"
                               "stays. The same by itself while a run goes on: [retention] in midwatch.toml.\n"
                               "Exit code 7: nothing was done, as nobody said yes.\n",
                               declare, run};
}  // namespace verbs

}  // namespace mw
