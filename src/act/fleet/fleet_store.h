// What lies in a run's store for whoever rents its machines (docs/formats/store.md, "fleet/").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fleet/control.h"
#include "core/fleet/fleet_spec.h"
#include "core/fleet/heartbeat.h"
#include "platform/object_store.h"

namespace mw::fleet {

/// Bytes of an object that are read.
constexpr size_t kFleetBytes = size_t{256} << 10;

/// run.json, as far as it is read again.
struct StoredSpec {
  std::string name, id, digest;
  std::string text;  ///< the JSON of all of it
  std::string etag;  ///< of the object
};

/// One thing that a controller intended or did. Their keys are in order of time.
struct JournalEntry {
  int64_t epoch = 0, serial = 0;
  std::string owner, what, why, provider, instance, label;
  Time at;  ///< by the store's clock
};

class FleetStore {
 public:
  /// `prefix` of the run, without slashes at its ends; may be "".
  FleetStore(ObjectStore& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}

  /// kNotFound: nobody has called `midwatch fleet init` for this run.
  Result<StoredSpec> spec();
  /// Writes run.json in place of the one whose tag is `over`, "": where there is none. kDenied: somebody else was there
  /// first, and nothing was written.
  Result<void> put_spec(const FleetSpec& spec, std::string_view run_id, std::string_view digest,
                        const std::string& over);

  struct Held {
    std::optional<Control> control;  ///< nullopt: there is none yet
    std::string etag;
  };
  /// kInvalid: it is damaged. Nobody may act then.
  Result<Held> control();
  enum class Swap { kWon, kLost };
  /// Replaces `from` by `to`, whose serial and owner are set here. kLost: somebody else changed it meanwhile. After an
  /// error nobody knows; whoever reads it again does. On kWon `from` is what lies there.
  Result<Swap> swap(Held& from, Control to, const std::string& owner);

  struct Beat {
    std::optional<Heartbeat> beat;
    Time changed;         ///< when the store got it
    std::string trouble;  ///< why it cannot be read
  };
  Result<Beat> heartbeat(std::string_view nonce);

  Result<void> record(const JournalEntry& entry);
  /// The last `limit` ones, oldest first. Damaged ones are left out.
  Result<std::vector<JournalEntry>> journal(size_t limit);

  /// The store's clock: when it got an object that is written for this. kUnsupported: it does not say.
  Result<Time> now(const std::string& owner);
  /// Does the store keep conditional writes? Tried on an object of our own. Without them nobody may act.
  Result<bool> keeps_conditions(const std::string& owner);

  std::string under(std::string_view rest) const;

 private:
  Result<Held> find();
  ObjectStore& store_;
  const std::string prefix_;
};

/// Puts a machine's heartbeat under its rental's nonce.
Result<void> put_heartbeat(ObjectStore& store, const std::string& prefix, const Heartbeat& beat);

}  // namespace mw::fleet
