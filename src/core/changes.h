// What attempts of a supervised run found changed since the ones before, in words.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "core/event.h"
#include "core/state.h"

namespace mw {

/// "package vllm: 0.8.5 → 0.9.0", "environment LR: not set → 2e-6", "file train.sh: --lr 1e-6 → --lr 2e-6 (and 2 more
/// lines)"; on one line.
std::string change_text(const event::Changed& change);

/// What the last attempt of which it is known found changed; empty where nothing is. "nothing" is left out.
std::vector<const event::Changed*> last_changes(const State& state);

/// {"attempt":2,"what":"package","name":"vllm","before":"0.8.5","after":"0.9.0"}; docs/formats/fingerprint.md.
void put_change(JsonWriter& json, const event::Changed& change);

}  // namespace mw
