// Points of a reward that lie below a line, among those before a fall.
#pragma once

#include <cstddef>
#include <span>

namespace mw::detect {

/// The share of points that lie as low.
double lows_in(std::span<const double> points, double low);

/// How likely so many points in a row below `low` are by the points before them.
double chance_of(std::span<const double> before, size_t streak, double low);

/// The share `often` of the points and more lie as low, and hardly any between them and the level `best`: what is
/// recorded is won or lost.
bool is_one_of_two(std::span<const double> before, double low, double best, double often);

}  // namespace mw::detect
