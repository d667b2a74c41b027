// The reference pages that are made from the tables in the code: docs/detectors.md and docs/signals.md.
#pragma once

#include <string>

namespace mw {

/// One section per detector: what it says, the incident kinds, its knobs with unit, reason and source. Markdown.
std::string detectors_page();

/// The canonical signals by group: name, unit, range, meaning, worse direction. Markdown.
std::string signals_page();

}  // namespace mw
