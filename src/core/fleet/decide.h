// What a controller does next. A pure function; act/fleet/controller carries it out, one move after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fleet/control.h"
#include "core/fleet/fleet_spec.h"
#include "core/fleet/verdict.h"

namespace mw::fleet {

/// What the provider of the current rental has of it.
struct Holding {
  bool heard = false;    ///< the provider answered; only then the rest means anything
  std::string instance;  ///< its id; "": it has none of that label
  std::string host;
  double price = 0;  ///< an hour; 0: not stated
  InstanceState state = InstanceState::kGone;
  bool unreachable = false;  ///< a host of one's own that does not answer, and that costs nothing
  bool ended = false;        ///< the provider lists it as gone: it is not only too new to be listed
  bool there() const { return heard && !instance.empty() && state != InstanceState::kGone; }
};

struct Move {
  enum class What {
    kNothing,  ///< all is well
    kWait,     ///< something is not as it should be, and `why` says what is waited for
    kFence,    ///< raise the epoch: the machine may no longer train. `after` is Control::after
    kDestroy,  ///< give the fenced machine back
    kForget,   ///< it is gone: the books say so
    kTake,     ///< what was asked for is there
    kBegan,    ///< it trains: that is written down once
    kRent,     ///< rent another one
  };
  What what = What::kNothing;
  std::string why, after;
  bool ahead = false;                       ///< it is about the successor, not about the machine that trains
  bool failed = false;                      ///< of kForget, kFence: its host has failed once
  bool person = false;                      ///< somebody must look at it: time alone does not mend it
  bool by_age = false, by_silence = false;  ///< of kFence: as Verdict has them
};

/// `strays`: instances of this run with an older epoch that are still there.
Move decide(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
            const Holding& holding, size_t strays);

/// What is known of a machine's successor.
struct Successor {
  Holding holding;
  std::optional<Heartbeat> beat;
};
/// What a controller does next for the successor of the run's machine, when nothing is due for that itself: one is
/// rented while its machine is about to end or says nothing, and given back where that goes on after all. kNothing
/// where there is none, and none is due. Only ever one machine is being rented. A move without `ahead` gives up the
/// machine itself: it never said a word, and its successor is there.
Move decide_ahead(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
                  const Successor& next, size_t strays);

struct Offer {
  std::string id, provider, host;
  double price = 0;  ///< an hour
  std::string gpu, region;
  int64_t count = 0, gpu_memory = 0, disk = 0;  ///< bytes; 0: not stated
  double reliability = -1;                      ///< -1: not stated
};

/// Is a GPU of the name `has` one that was asked for as `wanted`? Each word of `wanted` must be a word of `has`,
/// whatever the case and whatever stands between words: providers write "H100 SXM", "NVIDIA H100 80GB HBM3" and
/// "H100_80GB".
bool gpu_fits(std::string_view wanted, std::string_view has);

/// Those that may be taken, the best first: what they have is enough, their price is within all limits, their host has
/// not failed twice. The cheapest is the best; of one price the most reliable. `notes` gets why none is left.
std::vector<Offer> ranked(const FleetSpec& spec, const Control& control, Time now, std::vector<Offer> offers,
                          std::vector<std::string>& notes);
/// A host that failed twice is not taken again.
bool failed_twice(const Control& control, const Offer& offer);
/// "": another machine may be rented now; else the limit that forbids it. `person`: it stays so by itself.
std::string forbidden(const FleetSpec& spec, const Control& control, Time now, bool& person);

}  // namespace mw::fleet
