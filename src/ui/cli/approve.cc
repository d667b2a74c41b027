// midwatch approve.
#include "ui/cli/ask.h"

namespace mw {
namespace {

Exit run(const Args& args, Services& services, const Console& console) {
  RunAsk ask;
  ask.what = RunAsk::What::kApprove;
  return ask_run(args, services, console, ask, "approved.");
}

}  // namespace

namespace verbs {
extern const Verb approve;
const Verb approve = {
    "approve", "Approve what midwatch asks to do to a run",
    "  midwatch approve\n"
    "  midwatch approve --run 20260219-090811-train\n"
    "\nWhere [actions] of midwatch.toml says \"ask\", midwatch waits for this before it ends an attempt that trains "
    "on\n"
    "poisoned data (midwatch resume continues the attempt instead) and before it begins the next one (midwatch stop\n"
    "ends the run instead). What it asks for stands in midwatch status.\n",
    declare_ask, run};
}  // namespace verbs

}  // namespace mw
