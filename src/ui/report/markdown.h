// The cycle report in Markdown, in the manner of people's own monitor reports: status line first, tables with trends,
// nothing that is not known is invented. Foreign text is escaped: it can be neither markup nor HTML nor a link.
#pragma once

#include <string>

#include "ui/cli/verb.h"
#include "ui/view/format_batches.h"
#include "ui/view/overview.h"

namespace mw {

/// Of a cycle, the state's tools, formats and phases are those of the cycle (CycleCounts).
/// `batches` (may be nullptr): what its format rules judged, step by step.
std::string markdown_report(const Replayed& replayed, const Cycle& cycle, const FormatBatches* batches = nullptr);

}  // namespace mw
