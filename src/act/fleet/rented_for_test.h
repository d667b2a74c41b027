// For tests: a fleet that has rented one machine.
#pragma once

#include <string>

#include "core/fleet/control.h"

namespace mw::fleet {

/// One machine was asked for at that time, for epoch 1.
inline Control rented_control(const std::string& nonce, Time asked) {
  Rental rental;
  rental.epoch = 1;
  rental.nonce = nonce;
  rental.asked = asked;
  Control control;
  control.epoch = 1;
  control.phase = Control::Phase::kRented;
  control.rentals = {rental};
  return control;
}

}  // namespace mw::fleet
