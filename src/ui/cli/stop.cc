// midwatch stop.
#include "ui/cli/ask.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.flag("now", "kill it at once");
  declare_ask(spec);
}

Exit run(const Args& args, Services& services, const Console& console) {
  RunAsk ask;
  ask.what = args.has("now") ? RunAsk::What::kKill : RunAsk::What::kStop;
  return ask_run(args, services, console, ask, args.has("now") ? "killed." : "asked to end.");
}

}  // namespace

namespace verbs {
extern const Verb stop;
const Verb stop = {"stop", "End a run: ask its command to end, kill it when its grace is over",
                   "  midwatch stop          SIGINT now, SIGTERM and SIGKILL as its grace runs out (run --grace)\n"
                   "  midwatch stop --now    SIGKILL at once\n"
                   "\nThe run stays stopped: midwatch run --reattach does not start it again.\n",
                   declare, run};
}  // namespace verbs

}  // namespace mw
