#include <array>

#include "ui/cli/verb.h"

namespace mw {
namespace verbs {
extern const Verb run, attach, status, runs, incidents, why, tell, stop, pause, resume, approve, replay, report,
    compare, checkpoint_list, checkpoint_verify, checkpoint_diff, checkpoint_push, checkpoint_pull, checkpoint_remote,
    config, notify, cleanup, restore, verify, drill, completion, man;
}

std::span<const Verb* const> all_verbs() {
  static constexpr std::array kVerbs = {&verbs::run,
                                        &verbs::attach,
                                        &verbs::status,
                                        &verbs::runs,
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
