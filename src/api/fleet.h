// Renting machines for a run: what is asked, and what is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/shipping.h"
#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "core/fleet/control.h"
#include "core/fleet/decide.h"
#include "core/fleet/fleet_spec.h"
#include "core/fleet/legs.h"
#include "core/fleet/verdict.h"

namespace mw {

struct FleetAnswer {
  std::string run, store, id;
  fleet::Control control;
  fleet::Verdict verdict;
  fleet::Witnesses seen;
  double cost = 0, limit = 0;      ///< so far, and in all
  int64_t newest = kNoStep;        ///< step of the newest verified checkpoint in the store; kNoStep: there is none
  Time pushed;                     ///< when it came there
  std::vector<std::string> done;   ///< what this call did, in order
  std::string waits;               ///< what the run waits for; "": nothing
  bool person = false;             ///< somebody must look at it
  std::vector<std::string> notes;  ///< what was in the way, and what providers could not see
  bool all_seen = true;            ///< false: a provider was not heard, or could not list all that is rented
  // Of some requests only:
  std::vector<fleet::Leg> legs;   ///< of kStatus: the run's machines, the first one first
  std::vector<FleetAnswer> runs;  ///< of kList
  bool managed = true;            ///< false: nobody rents machines for it, it only ships checkpoints here
  std::string trouble;            ///< of a run of `runs`: why nothing of it is known; "": it is
  std::string preview;            ///< text for people, with names in place of the values of the environment
  std::vector<fleet::Offer> offers;
  struct Orphan {
    std::string provider, instance, label, run, state;
    bool ours = false;  ///< of this very run; the next check gives it back
  };
  std::vector<Orphan> orphans;
  std::vector<std::pair<std::string, std::string>> environment;  ///< that an adopted machine must be given
};

struct FleetRequest {
  enum class What {
    kInit,     ///< write the specification into the store, and try what is needed of it
    kStatus,   ///< see, and do nothing; where `file` is a folder, as kList of it
    kWatch,    ///< check, and do what is due: once, or again and again
    kOffers,   ///< what may be rented now, the best first; with no `file` by `wants` and `max_price`
    kPreview,  ///< what launching would send to the provider with the best offer; nothing is rented
    kLaunch,   ///< a person wants a machine; then as kWatch
    kStop,     ///< a person wants it given back, and none taken; then as kWatch
    kAdopt,    ///< the run's machine is `instance` of `provider` from now on
    kOrphans,  ///< what is rented with a label of midwatch's and belongs to no run
    kList,     ///< see all runs of `files` and below `store`, and do nothing
    kUnfit,    ///< on a rented machine: it is not fit for its run, for `reason`
  };
  What what = What::kStatus;
  std::string file;                ///< the specification
  std::vector<std::string> files;  ///< of kList: specifications, or folders of them (*.toml)
  StoreAddress store;              ///< of kList: a place below which runs lie; its place "": none
  std::string provider, instance;  ///< of kAdopt; of kOffers without a file the one provider that is asked, by its kind
  fleet::MachineWants wants;       ///< of kOffers without a file
  double max_price = 0;            ///< likewise, of a machine and an hour; 0: any
  std::string endpoint;            ///< likewise, of that provider's API; "": its own
  std::string reason;              ///< of kUnfit
  Duration every;                  ///< of kWatch: between two checks; 0: one only
  /// Gets what came of each check of a kWatch that goes on; an error is what was in its way, and the next one follows.
  std::function<void(const Result<FleetAnswer>&)> checked;
};

}  // namespace mw
