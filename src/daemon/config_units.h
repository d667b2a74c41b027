// How a person writes durations, sizes and paths in midwatch.toml.
#pragma once

#include <cstdint>
#include <optional>
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

/// `path` from `folder` on, "~/" at the home directory, without "." and doubled slashes. ".." stays.
std::string absolute_path(std::string_view path, std::string_view folder);

/// Where `path` leads when all links are followed; `path` itself when it leads nowhere.
std::string real_path(const std::string& path);

/// Nothing of midwatch's is kept in such a place: the root of all files, or a file system of the kernel's own.
Result<void> check_home(std::string_view path);

/// A folder in which things may be deleted: absolute, without "..", not the root of all files, not a place of the
/// system or a home directory, and not reached through a link. Returns it without a slash at the end.
Result<std::string> check_root(std::string_view path);

}  // namespace mw
