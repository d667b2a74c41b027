// Numbers that lie beside weights and are none: the best loss so far, a metric, a mask. They may be infinite or NaN in
// a healthy checkpoint (a best loss is infinite before the first evaluation).
#pragma once

#include <string>
#include <string_view>

#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {

/// Sets `ByteRange::figure` of what belongs to the trainer and not to a model or an optimizer: by names that trainers
/// give to such numbers; and of torch.save, a single number in a part of the file without a matrix, where other parts
/// have one.
void mark_trainer_figures(FileDirectory& directory);

/// Likewise by the name alone; `numbers` are in it.
bool is_trainer_figure(std::string_view name, uint64_t numbers);

/// A mask, or a bound that has seen no number yet: infinite by design, by its name or by what is in it.
bool may_be_infinite(std::string_view name, const TensorFigures& figures);

/// "3 of the 64 numbers of NAME are NaN".
std::string not_finite_in(std::string_view name, const TensorFigures& figures);

}  // namespace mw
