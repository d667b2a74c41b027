// The machine's side: it beats, and learns whether it may still train.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "act/fleet/fleet_store.h"

namespace mw::fleet {

// What a rented machine is given in its environment.
inline constexpr const char* kStoreVariable = "MIDWATCH_FLEET_STORE";        ///< s3://BUCKET/RUN, or a folder
inline constexpr const char* kEndpointVariable = "MIDWATCH_FLEET_ENDPOINT";  ///< of S3, where it is not the usual one
inline constexpr const char* kRegionVariable = "MIDWATCH_FLEET_REGION";
inline constexpr const char* kEpochVariable = "MIDWATCH_FLEET_EPOCH";
inline constexpr const char* kMachineVariable = "MIDWATCH_FLEET_MACHINE";  ///< the rental's nonce
inline constexpr const char* kLabelVariable = "MIDWATCH_FLEET_LABEL";
inline constexpr const char* kEveryVariable = "MIDWATCH_FLEET_EVERY";  ///< between two heartbeats; default 1m

struct MachineIdentity {
  std::string store, endpoint, region;
  int64_t epoch = 0;
  std::string nonce;
  Duration every = Duration::seconds(60);
};
/// nullopt: nobody rented this machine. kInvalid: the variables are there and wrong.
Result<std::optional<MachineIdentity>> machine_identity(
    const std::function<std::optional<std::string>(const std::string&)>& variable);

enum class Standing {
  kMine,    ///< it may train
  kWaits,   ///< it was rented as a successor: the machine before it is not gone yet
  kFenced,  ///< another epoch has begun, and never ends: its trainer is to be ended
};

/// The epochs of `latest` (act/vault/latest.h) in which the machine of an epoch may move it: [first, second). Those of
/// a later machine lie above, so that its first claim fences off all earlier machines for ever.
std::pair<int64_t, int64_t> pointer_epochs(int64_t epoch);

/// Asks who may act, puts the heartbeat (as `fenced` when it is not this machine), and says which it is. Error: neither
/// is known, and whoever trains goes on training.
Result<Standing> beat(FleetStore& store, ObjectStore& objects, const std::string& prefix, Heartbeat beat);

}  // namespace mw::fleet
