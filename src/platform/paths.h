// Paths as a person writes them, and which of them midwatch keeps its hands off.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mw {

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
