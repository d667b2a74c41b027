// How a person writes durations and sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace mw {

/// "30s", "1.5h", "1h 30m", "250ms", "2d". An error says what is wrong and gives an example.
Result<Duration> parse_duration(std::string_view text);
/// The inverse, in the largest unit that is exact or in several: "90s" is "1m 30s".
std::string duration_text(Duration duration);

/// "4096B", "10KB" (powers of 1000), "5GiB" (powers of 1024).
Result<int64_t> parse_size(std::string_view text);
std::string size_text(int64_t bytes);

/// The word of `known` that `word` most likely was meant to be; "" when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace mw
