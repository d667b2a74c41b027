// Text in columns: cells, not bytes. Everything here wants text that was escaped for a terminal already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Terminal cells that `text` takes: 1 for a character, 2 for the wide ones of East Asia and emoji, 0 for combining
/// marks (Unicode Annex 11, the common blocks).
size_t cells_of(std::string_view text);

/// At most `cells` cells; "…" stands for what was cut.
std::string fit(std::string_view text, size_t cells);

/// As fit(), but what follows the last ':' stays: of a place the line's number says more than the file's long name.
std::string fit_place(std::string_view text, size_t cells);

/// The names of one table, each as fit() has it, or all of them cut in the middle, or at their beginning, where more of
/// them differ so: metrics of one kind have names that begin alike.
std::vector<std::string> fit_names(const std::vector<std::string>& names, size_t cells);

/// Filled up with spaces to `cells` cells, at the left when `right`; longer text stays as it is.
std::string pad(std::string_view text, size_t cells, bool right = false);

/// fit and pad: exactly `cells` cells.
std::string column(std::string_view text, size_t cells, bool right = false);

/// Lines of at most `cells` cells, broken at spaces (within a word that is longer than a line); at most `most` lines,
/// the last of them then ends with "…".
std::vector<std::string> wrap(std::string_view text, size_t cells, size_t most = 64);

}  // namespace mw
