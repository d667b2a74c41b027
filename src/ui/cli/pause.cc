// midwatch pause.
#include "ui/cli/ask.h"

namespace mw {
namespace {

Exit run(const Args& args, Services& services, const Console& console) {
  RunAsk ask;
  ask.what = RunAsk::What::kPause;
  return ask_run(args, services, console, ask, "paused; midwatch resume continues it.");
}

}  // namespace

namespace verbs {
extern const Verb pause;
const Verb pause = {
    "pause", "Pause a run's command, with everything that it started",
    "  midwatch pause\n"
    "  midwatch pause --run 20260219-090811-train\n"
    "\nEvery process of the command gets SIGSTOP; memory and GPUs stay taken. A pause of many minutes may outlast\n"
    "time-outs inside the trainer (NCCL's is 10 minutes by default). No restart begins while a run is paused.\n",
    declare_ask, run};
}  // namespace verbs

}  // namespace mw
