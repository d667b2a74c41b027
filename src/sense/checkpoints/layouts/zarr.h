// The .zarray of a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mw {

/// The shape of a tensor, by its .zarray; nothing where that makes no sense.
std::optional<std::vector<int64_t>> shape_in_zarray(std::string_view text);

}  // namespace mw
