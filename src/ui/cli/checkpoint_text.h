// How `midwatch checkpoint` shows what it found: for people and as JSON (docs/formats/checkpoints-json.md).
#pragma once

#include <string>

#include "api/requests.h"
#include "ui/cli/verb.h"

namespace mw {

std::string checkpoints_json(const CheckpointsAnswer& answer);
std::string checkpoints_list(const CheckpointsAnswer& answer, const Console& console);
/// One in full; of several a line each, and in full those that are not whole.
std::string checkpoints_verified(const CheckpointsAnswer& answer, const Console& console);

std::string tensors_json(const TensorsAnswer& answer);
/// The summary, then the tensors that changed most; `all`: all of them.
std::string tensors_text(const TensorsAnswer& answer, bool all, const Console& console);

}  // namespace mw
