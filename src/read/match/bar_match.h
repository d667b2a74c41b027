// The commonest line of all, a progress bar of tqdm, matched by hand.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mw {

/// What the dialect "tqdm" matches. A log may hold a hundred thousand of them, and RE2 needs longer for it than all
/// else that is done with one: the lazy repetition makes a program of hundreds of states.
inline constexpr std::string_view kBarExpression =
    R"((?:^|\s)(?P<what>[^|:\r]{0,80}?):?\s*\d+%\|[^|]*\| (?P<done>[\d.,]+[kMG]?)/(?P<total>[\d.,]+[kMG]?) \[)";

/// As Regex::match() of kBarExpression.
bool match_bar(std::string_view text, std::vector<std::string_view>& captures, size_t* end);

}  // namespace mw
