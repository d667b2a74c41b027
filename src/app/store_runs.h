// Which runs were shipped below a place of a store.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/harbour.h"
#include "base/result.h"

namespace mw {

/// The prefix of the run that has this key: its specification, or the manifest of a checkpoint. nullopt: another key,
/// as of a run's own folders ("runs/NAME/…" are logs).
std::optional<std::string> run_of_key(std::string_view key);

/// Prefixes of the runs below the harbour's, its own among them.
Result<std::set<std::string>> prefixes_below(Harbour& harbour);

/// For a person who named the folder above the runs: "run1, run2, run3", as seen from `place`, of those that have a
/// checkpoint; "": there are none, or the store does not answer. Reads some 20,000 names at most.
std::string named_runs_below(Harbour& harbour);

/// A place holds no checkpoint, and these runs lie below it.
Error runs_lie_below(const std::string& place, const std::string& runs);

}  // namespace mw
