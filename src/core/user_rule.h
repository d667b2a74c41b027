// What a rule of the user's own looks at.
#pragma once

#include <string>
#include <vector>

#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

/// Either `own` or some of `machine`, or nothing, where the run shows nothing of that name.
struct RuleFigures {
  const Series* own = nullptr;         ///< of the run; lives until the next fold()
  std::vector<const Series*> machine;  ///< one for each thing

  bool seen() const { return own != nullptr || !machine.empty(); }
};

/// A signal of the run comes first, then a metric that the trainer calls so, then a figure of the machine.
RuleFigures figures_of(const State& state, const UserRule& rule);

/// All names that a rule could look at in this run, each once.
std::vector<std::string> figure_names(const State& state);

}  // namespace mw
