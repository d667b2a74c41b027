// midwatch resume.
#include "ui/cli/ask.h"

namespace mw {
namespace {

Exit run(const Args& args, Services& services, const Console& console) {
  RunAsk ask;
  ask.what = RunAsk::What::kResume;
  return ask_run(args, services, console, ask, "resumed.");
}

}  // namespace

namespace verbs {
extern const Verb resume;
const Verb resume = {"resume", "Resume a run's command after midwatch pause",
                     "  midwatch resume\n"
                     "  midwatch resume --run 20260219-090811-train\n",
                     declare_ask, run};
}  // namespace verbs

}  // namespace mw
