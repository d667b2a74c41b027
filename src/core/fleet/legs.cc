#include "core/fleet/legs.h"

#include <algorithm>

namespace mw::fleet {
namespace {

/// The machine before this one that came to a step; nullptr: none did.
Leg* trained_before(std::vector<Leg>& legs) {
  const auto found = std::find_if(legs.rbegin(), legs.rend(),
                                  [](const Leg& leg) { return leg.last && leg.last->beat.step != kNoStep; });
  return found == legs.rend() ? nullptr : &*found;
}

}  // namespace

std::vector<Leg> legs_of(const Control& control, const std::map<std::string, LastBeat>& beats, Time now) {
  std::vector<Leg> out;
  int64_t attempt = 1;
  for (const Rental& rental : control.rentals) {
    if (rental.refused) continue;
    Leg leg;
    leg.rental = rental;
    leg.cost = cost_of(rental, now);
    leg.first_attempt = attempt;
    if (const auto found = beats.find(rental.nonce); found != beats.end()) {
      leg.last = found->second;
      const Heartbeat& beat = leg.last->beat;
      leg.attempts = std::max<int64_t>(0, beat.attempt);
      Leg* const before = beat.from == kNoStep ? nullptr : trained_before(out);
      if (before != nullptr && before->redone < 0) {
        before->redone = std::max<int64_t>(0, before->last->beat.step - beat.from);
      }
    }
    attempt += leg.attempts;
    out.push_back(std::move(leg));
  }
  return out;
}

}  // namespace mw::fleet
