// What a person says of a run that may move from machine to machine: what it needs, what it may cost, how long silence
// is borne, and who rents machines out. Read from a TOML file (docs/fleet.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw::fleet {

/// What a machine must have. Empty or 0: anything will do.
struct MachineWants {
  std::string gpu, image;
  int64_t count = 0;                 ///< of GPUs
  int64_t gpu_memory = 0, disk = 0;  ///< bytes, each GPU's and the machine's
  double reliability = 0;            ///< 0 to 1, as the provider states it
  std::vector<std::string> regions;
};

/// Hard limits. Prices are in the provider's currency, which is the same for all of them.
struct FleetLimits {
  double price_per_hour = 0;  ///< of one machine; there is one at once, and two where `ahead` allows it
  double spend = 0;           ///< in total, over the life of the run
  int64_t rents_per_hour = 3;
  int64_t rents = 20;  ///< in total; at most kMostRents
  /// What is kept of `spend` for the time between two checks of the controller: a machine is ended when less is left.
  Duration reserve = Duration::seconds(900);
  /// How long before the announced end of a machine the next one may be rented. It is given back when the first one is
  /// still there after twice that time. 0: not before the first one is gone.
  Duration ahead;
};
constexpr int64_t kMostRents = 200;

struct Patience {
  Duration silence = Duration::seconds(900);       ///< without a heartbeat, and nobody says that the machine is gone
  Duration start = Duration::seconds(1800);        ///< from renting a machine to its first step, image pull included
  Duration settle = Duration::seconds(300);        ///< that a provider may take to list what it rented out
  Duration keep_failed = Duration::seconds(1800);  ///< that the machine of a failed run stays, for people to look
};

/// One [[provider]] of the file.
struct ProviderSpec {
  std::string kind, name;
  std::map<std::string, std::string> values;
  std::vector<std::string> words;  ///< its `command` or its `hosts`
  double price = 0;                ///< an hour, of providers that state none

  /// A setting, or "" where it is not set.
  std::string value(std::string_view key) const {
    const auto found = values.find(std::string(key));
    return found == values.end() ? "" : found->second;
  }
};

/// Where the run reports to W&B, which is asked as one more witness. Its key is WANDB_API_KEY of the controller.
struct WandbSpec {
  std::string entity, project;  ///< "": it is not asked
  std::string run;              ///< its id; "": as its heartbeat says
  std::string endpoint = "https://api.wandb.ai";
};

struct FleetSpec {
  std::string name;                       ///< of the run: a-z, 0-9 and '-', at most 40 bytes
  std::string store;                      ///< s3://BUCKET/RUN or a folder
  std::string endpoint, region, profile;  ///< of S3
  std::string start;                      ///< shell text that a new machine runs
  std::vector<std::string> environment;   ///< names of variables that a machine gets from the controller's environment
  MachineWants wants;
  FleetLimits limits;
  Patience patience;
  WandbSpec wandb;
  std::vector<ProviderSpec> providers;  ///< in the order in which they are tried
};

/// kInvalid with file and line: a key that is not known, a value that is none, a limit that is missing, a secret in the
/// text. `path` is only for messages.
Result<FleetSpec> parse_fleet_spec(std::string_view text, std::string_view path);

/// What run.json holds of one: name, limits, patience. Providers are only named there. kInvalid: it is none.
Result<FleetSpec> parse_fleet_spec_json(std::string_view json);

/// run.json: the specification without the providers' settings, which stay with the controller.
std::string fleet_spec_json(const FleetSpec& spec, std::string_view run_id, std::string_view digest);

}  // namespace mw::fleet
