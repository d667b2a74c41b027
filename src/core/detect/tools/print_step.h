// To how fine a step a source prints its figures.
#pragma once

#include <span>

namespace mw::detect {

/// The coarsest power of ten of which all values are multiples, from 1 to 1e-9; 0 where they are finer.
double print_step(std::span<const double> values);

}  // namespace mw::detect
