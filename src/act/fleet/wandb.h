// What W&B says of a run, by its public GraphQL API: one more witness, which decides nothing alone (decisions/0018).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "core/fleet/verdict.h"
#include "platform/http.h"

namespace mw::fleet {

struct WandbPlace {
  std::string endpoint;              ///< "https://api.wandb.ai"; https, or a server on this machine
  std::string entity, project, run;  ///< `run` is the run's id, as in its address
  std::string key;                   ///< of the account; in no error
};

/// Asks once, within 20 s. Ages are by W&B's clock, as its answer states the time. kNotFound: there is no such run. Of
/// all errors nothing follows for the run.
Result<WandbWord> ask_wandb(Http& http, const WandbPlace& place);

/// An answer of the API; `now` is when it was given, by W&B's clock, or not known. kInvalid: it is none.
Result<WandbWord> parse_wandb(std::string_view body, Time now);

}  // namespace mw::fleet
