#include <array>

#include "ui/cli/verb.h"

namespace mw {
namespace verbs {
extern const Verb fleet_init, fleet_status, fleet_watch, fleet_offers, fleet_launch, fleet_stop, fleet_adopt,
    fleet_orphans, fleet_unfit;
extern const Verb run, onstart, attach, status, runs, runs_show, runs_export, incidents, why, tell, stop, pause, resume,
    approve, replay, report, compare, checkpoint_list, checkpoint_verify, checkpoint_diff, checkpoint_push,
    checkpoint_pull, checkpoint_remote, checkpoint_logs, checkpoint_prune, preflight, config, notify, cleanup, restore,
    verify, drill, completion, man;
}  // namespace verbs

std::span<const Verb* const> all_verbs() {
  static constexpr std::array kVerbs = {&verbs::run,
                                        &verbs::onstart,
                                        &verbs::attach,
                                        &verbs::status,
                                        &verbs::runs,
                                        &verbs::runs_show,
                                        &verbs::runs_export,
                                        &verbs::incidents,
                                        &verbs::why,
                                        &verbs::tell,
                                        &verbs::stop,
                                        &verbs::pause,
                                        &verbs::resume,
                                        &verbs::approve,
                                        &verbs::replay,
                                        &verbs::report,
                                        &verbs::compare,
                                        &verbs::checkpoint_list,
                                        &verbs::checkpoint_verify,
                                        &verbs::checkpoint_diff,
                                        &verbs::checkpoint_push,
                                        &verbs::checkpoint_pull,
                                        &verbs::checkpoint_remote,
                                        &verbs::checkpoint_logs,
                                        &verbs::checkpoint_prune,
                                        &verbs::fleet_init,
                                        &verbs::fleet_status,
                                        &verbs::fleet_watch,
                                        &verbs::fleet_offers,
                                        &verbs::fleet_launch,
                                        &verbs::fleet_stop,
                                        &verbs::fleet_adopt,
                                        &verbs::fleet_orphans,
                                        &verbs::fleet_unfit,
                                        &verbs::preflight,
                                        &verbs::config,
                                        &verbs::notify,
                                        &verbs::cleanup,
                                        &verbs::restore,
                                        &verbs::verify,
                                        &verbs::drill,
                                        &verbs::completion,
                                        &verbs::man};
  return kVerbs;
}

}  // namespace mw
