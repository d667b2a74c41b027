// What a run's journal says of the checkpoints that were shipped to its store, and which one is next: pure, a view of
// the state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// event::Intended::action. The target is the checkpoint's folder.
inline constexpr std::string_view kShip = "ship";
/// Likewise, where `latest` in the store may go back to it: the run was rolled back behind what it names.
inline constexpr std::string_view kShipBack = "ship-back";

/// An action of either kind.
bool is_ship(const ActionState& action);

/// A checkpoint of the run, as far as its shipping goes.
struct Shipment {
  enum class How {
    kWaiting,  ///< it is whole as far as its files show, and is to be shipped
    kSending,  ///< now
    kShipped,
    kFailed,  ///< the last try; another follows
    kHeld,    ///< not to be shipped: saved since the onset of an open incident, or the run went on from before it
  };
  std::string path;
  int64_t step = kNoStep;
  How how = How::kWaiting;
  Time at;                ///< of kShipped and kFailed: when
  std::string text;       ///< what came of the last try
  uint16_t saved_in = 0;  ///< index of the attempt that saved it last
};

std::string_view word_of(Shipment::How how);

/// All that a scan found and did not find broken, by ascending step; of one folder its last scan counts.
std::vector<Shipment> shipments(const State& state);
/// The one that `latest` in the store names by the run's own shipments, with the time when it was shipped; unset while
/// none was.
std::optional<Shipment> last_shipped(const State& state);

struct NextShipment {
  std::string path;
  int64_t step = kNoStep;
  bool back = false;   ///< `latest` may go back to it
  bool aside = false;  ///< `latest` stays at what it names
};
/// The newest that is to be shipped. Where what `latest` names is a kHeld one by now, or an earlier training's
/// (core/trainings.h), the newest other one, so that `latest` goes back to it. What an earlier training saved comes
/// behind all that the one saved that goes on. `later`: paths that are not to be tried now.
std::optional<NextShipment> next_shipment(const State& state,
                                          const std::function<bool(const std::string& path)>& later);

}  // namespace mw
