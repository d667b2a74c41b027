// What stands inside the sides of a drawn box.
#pragma once

#include <string_view>

namespace mw {

/// Of a row of one cell, "│ loss   0.5 │", as rich draws a panel, `text` becomes what stands in it. False: it is none.
bool enter_cell(std::string_view& text);

}  // namespace mw
