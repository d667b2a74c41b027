// Frameworks that train by another one's code.
#pragma once

#include <string_view>

namespace mw {

/// TRL's trainers are Transformers': records, progress bars and checkpoints look the same.
inline bool is_of_transformers(std::string_view framework) { return framework == "trl" || framework == "transformers"; }

}  // namespace mw
