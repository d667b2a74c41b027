// What a file is that stands in the place of another one: a download that brought a page, a pointer, a packed copy.
#pragma once

#include <string_view>

namespace mw {

/// By its first bytes, in words: "a pointer of git-lfs: the file itself was not fetched (git lfs pull)", "a page of
/// HTML or XML", "an archive of gzip"; "" where they are none of these. `packed`: also archives, which some formats of
/// weights may be.
std::string_view other_format_of(std::string_view head, bool packed);

/// By its name: a format into which weights are exported for other programs; no trainer here resumes from one.
bool is_for_other_programs(std::string_view name);

}  // namespace mw
