// The record of a run, made from its state.
#pragma once

#include <string>
#include <vector>

#include "api/registry.h"
#include "core/state.h"

namespace mw {

/// What its journal shows. Name, folder, command and machines are left empty: they are not in the journal.
RunRecord record_of(const State& state);

/// The last point of a name and the best; nullptr where the record has no such figure.
const RunRecord::Figure* figure_of(const RunRecord& record, std::string_view name);

/// What `after` has other than `before`, setting by setting; of the group "setting".
std::vector<RunRecord::Change> different_settings(const RunRecord& before, const RunRecord& after);

}  // namespace mw
