// The tables of the Markdown report, below its head and its incidents.
#pragma once

#include <string>
#include <string_view>

#include "ui/view/format_batches.h"
#include "ui/view/overview.h"

namespace mw {

/// Metrics, rewards, format, tools, time, checkpoints, attempts, warnings, files: a section for each that the run
/// shows. In a cycle, a section without news says so.
std::string markdown_tables(const State& state, const Cycle& cycle, const FormatBatches* batches = nullptr);

/// Clipped and escaped: safe in a paragraph and in a table cell.
std::string markdown_text(std::string_view text);

/// Does it lie in the cycle, as far as is known? A line without a clock is of the time of those around it. What has
/// neither step nor time does.
bool in_cycle(const State& state, const Cycle& cycle, const Moment& moment);

}  // namespace mw
