// Small plots in text: where people would rather look than read.
#pragma once

#include <string>
#include <vector>

#include "core/series.h"

namespace mw {

/// One line of eight-level bars ("▁▃▇"), `width` cells; non-finite stretches are "×". ASCII levels when !unicode.
std::string sparkline(const std::vector<Point>& points, size_t width, bool unicode = true);

/// A braille curve of `width` × `height` cells with the range at the left; lines without colour, newest at the right.
/// Where a cell stands for many points it shows their mean, and a rare point far outside of all means as well.
std::vector<std::string> braille_plot(const std::vector<Point>& points, size_t width, size_t height);

}  // namespace mw
