// A command below which the training is not: it starts it behind itself and ends (`nohup python train.py > train.log
// &`), or is only a client of it (`ray job submit`).
#include <algorithm>

#include "act/supervise/supervisor.h"
#include "base/text.h"
#include "core/exit_status.h"
#include "core/supervise/client.h"

namespace mw {
namespace {

constexpr Duration kLauncher = Duration::seconds(60);  // whoever lives longer did something itself
constexpr Duration kSettles = Duration::seconds(2);    // within which what merely ends behind it is gone
constexpr size_t kNamed = 3;

/// By a step. Not of a command that is known to start its training behind itself: of what it did before, this is no
/// sign. Any other that once trained and now ends at once had nothing left to train.
bool has_trained(const State& state) { return !leaves_training_behind(state) && state.steps().count > 0; }

std::string names_of(const std::vector<ProcessInfo>& processes) {
  std::string names;
  for (size_t i = 0; i < std::min(processes.size(), kNamed); ++i) {
    names += cat(i == 0 ? "" : ", ", processes[i].name, " (", processes[i].id.pid, ")");
  }
  return cat(names, processes.size() > kNamed ? ", \u2026" : "");
}

}  // namespace

/// While a person can still change it.
void Supervisor::say_where_it_trains() const {
  const Client* const client = client_of(spec_.command);
  if (client == nullptr) return;
  doors_.say(cat(client->called, " only follows the training, which runs ", client->where,
                 ": midwatch sees what it writes, and can neither pause nor end it. When the client is lost, no other "
                 "attempt begins, as the first may go on. To supervise it, start midwatch run there (docs/deploy)"));
}

/// Where it ended well and at once, before any step was seen, ending what it left would end the run.
Result<void> Supervisor::look_at_background(const State& state, bool quiet, EventWriter& writer) {
  if (!kept_.ending || background_) return {};
  if (!stepped_) stepped_ = has_trained(state);
  if (!stopping() && !(quiet && since(ended_) >= kSettles)) return {};
  const bool known = goes_on_behind(state, static_cast<size_t>(attempt_) - 1);
  const bool launched =
      kept_.ending->code == 0 && !*stepped_ && !trip_ && !stopping() && kept_.ending->at - kept_.started <= kLauncher;
  background_ = (known || launched) && tree_.any_alive();
  if (!*background_ || known) return {};
  const std::string said = cat("attempt ", attempt_, kGoesOn, names_of(tree_.family()));
  doors_.say(
      cat(said, ". How that ends cannot be seen: better start the training in the foreground, without & or nohup"));
  return writer.note({"midwatch", said}, doors_.clock.now());
}

}  // namespace mw
