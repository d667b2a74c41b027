// What to do when a supervised command has ended: start it again, or stop with a reason. Pure: the same history gives
// the same decision, and each decision says why in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/event.h"
#include "core/state.h"
#include "core/supervise/end_class.h"

namespace mw {

/// AttemptOutcome::layer where an engine failed in the attempt, whatever the incident that leads.
inline constexpr std::string_view kEngineLayer = "engine";

/// The action of restarting a component while the trainer goes on, as the journal names it.
inline constexpr std::string_view kRestartComponent = "restart-component";
/// The same where its attempt ends with it.
inline constexpr std::string_view kRestartWithRun = "restart-with-run";

/// One attempt of a supervised command, in the terms that the decision needs.
struct AttemptOutcome {
  bool started = true;          ///< false: the command could not be started at all
  Duration lasted;              ///< from its start to its end; 0: not known
  bool known = true;            ///< false: nobody received its exit status
  int code = -1;                ///< exit status, -1 when a signal ended it or it is not known
  int signal = 0;               ///< 0: none
  bool unfinished = false;      ///< its status is 0, and its files contradict that (core/exit_status.h)
  std::string said;             ///< its own line of why it ended short of its plan, with status 0; "": none
  bool from_outside = false;    ///< by that line somebody else stopped it; else it followed a rule of its own
  bool finished = false;        ///< how it ended is not known, but what it wrote shows that it was complete
  bool stop_requested = false;  ///< by a person, or by midwatch because the watch was to end
  std::string stopped_for;      ///< the component without which the run could not go on, in a sentence; "": none
  std::string time_limit;       ///< that its command sets and that ended it (time_limit.h): "timeout 8h"; "": none
  std::string trains_on;        ///< in sentences, why the training may go on elsewhere (client.h); "": it does not
  bool provider = false;        ///< the provider took the machine, or is about to
  bool tripped = false;         ///< midwatch's circuit breaker ended it: it trained on poisoned data
  int64_t suspect = kNoStep;    ///< the first checkpoint that it saved since its data had turned to poison
  int64_t onset = kNoStep;      ///< of what tripped the breaker
  bool can_roll_back = false;   ///< those can be quarantined, so that the next attempt resumes from before the onset
  int64_t first_step = kNoStep, last_step = kNoStep;  ///< that it trained
  int64_t last_checkpoint = kNoStep;                  ///< highest step of a complete checkpoint that it saved
  int64_t resumed_at = kNoStep;                       ///< kNoStep: it began from nothing
  bool made_room = false;                             ///< it ended for want of space, and some was made since
  int64_t planned = 0;                                ///< steps; 0: not known
  std::string kind;                                   ///< of the incident that leads; "" when none was seen
  std::string cause;                                  ///< its first-ranked cause; "" when not known
  bool new_error = false;  ///< its error is another one than that of the attempt before, of the same kind and cause
  std::string transient;   ///< of that cause: "deterministic", "likely-transient", "degraded", "poison"
  std::string reaction;    ///< of that incident, as knowledge/signatures has it
  std::string layer;  ///< of that cause, likewise: "network", "learning-dynamics", …; kEngineLayer of all engines
};

struct RestartLimits {
  int restarts = 5;  ///< in a row without progress; progress gives them all back. 0: none ever, whatever the progress
  int total = 50;    ///< of the whole run, whatever the progress; what the provider does is not counted
  Duration first_wait = Duration::seconds(10);  ///< before a restart; doubles with each one without progress
  Duration longest_wait = Duration::seconds(900);
};

struct RestartDecision {
  EndClass end = EndClass::kUnknown;
  bool restart = false;
  Duration wait;    ///< before the restart
  std::string why;  ///< one sentence for people
  int spent = 0;    ///< of the budget: attempts in a row that came no further, the last one counted
};

/// Decides after the last of `attempts` (at least one) has ended. Rules, the first that fits; docs/restart-policy.md
/// has them as a table, made from this code:
///  1. a stop was requested, it could not be started, or it was only the client of a training that may go on elsewhere
///     (core/supervise/client.h): stop;
///  2. checkpoints were saved since the data had turned to poison, and they cannot be quarantined; or the breaker
///     tripped, and the attempt had begun from nothing although there is a checkpoint, or nothing shows that the
///     infrastructure is to blame: stop, a person must look. Numbers that are not finite, and a rule of the user's own,
///     need no such sign, but a checkpoint from before their onset, and that the same does not come again before the
///     run has come further than the last time. An attempt that hung is started again;
///  3. complete by its output where its exit status is unknown: stop;
///  4. no restart is allowed at all: stop. The provider took the machine: restart, and no budget is touched;
///  5. exit status 0, or ended by SIGINT or SIGTERM from elsewhere, or by a time limit that its command sets: stop. So
///     does what was stopped from outside by its own word, saved and gave status 0. A status of 0 that the files
///     contradict counts as a failure; twice in a row without any error it may be the run's own rule: stop, a person
///     must look;
///  6. the same failure as the attempt before at the same step, or within two steps of resuming: stop, it is
///     deterministic; an outage around the run (network, a server elsewhere, a collective's peers, SIGKILL by somebody
///     else) is not, and rule 8 counts it. So is what ended twice within a minute of its start, the same way, and never
///     trained;
///  7. a failure that is known to repeat (deterministic or poison): stop before any attempt trained a step. Later,
///     where the attempt came further than those before, by its saves or by its steps, rule 6 finds out whether it
///     does; else what needs something done first (settings, a person) stops, and so does a full disk where no space
///     was made;
///  8. more restarts in a row without progress than allowed, or in all: stop;
///  9. otherwise restart, after a wait that doubles while there is no progress.
/// Progress is a newer complete checkpoint, or where no attempt shows any, a later step.
RestartDecision after_end(const std::vector<AttemptOutcome>& attempts, const RestartLimits& limits);

}  // namespace mw
