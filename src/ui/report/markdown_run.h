// Sections of the Markdown report that follow the run through its steps, attempts, checkpoints and evaluations.
#pragma once

#include <string>

#include "ui/view/format_batches.h"
#include "ui/view/overview.h"
#include "ui/view/step_table.h"

namespace mw {

/// "## Now" …; "" of a run that is over.
std::string markdown_now(const State& state);

/// "## The last 5 steps" …; "" when no step reported a figure.
std::string markdown_steps(const State& state);

/// The table alone, with what never changed below it.
std::string markdown_step_table(const StepTable& table);

/// Checkpoints: step, when, how long the save took, size, how verified, where. In a cycle those of the cycle.
std::string markdown_checkpoints(const State& state, const Cycle& cycle);

/// "" when there was only one attempt.
std::string markdown_attempts(const State& state);

/// "" when nothing was evaluated.
std::string markdown_evaluations(const State& state, const Cycle& cycle);

/// The parts of the reward that the run logs for each rollout; "" when it logs none.
std::string markdown_rewards(const State& state, const Cycle& cycle);

/// Calls by function; "" when none was seen. In a cycle `batches` knows those of the whole run.
std::string markdown_tools(const State& state, const Cycle& cycle = {}, const FormatBatches* batches = nullptr);

}  // namespace mw
