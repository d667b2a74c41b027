// knowledge/preflight, loaded.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/preflight/lint.h"

namespace mw::preflight {

struct Knowledge {
  Catalogue catalogue;
  std::vector<ModelRow> models;
};

/// What is built into the program. An error is a mistake in one of its files, and names it.
Result<Knowledge> load_knowledge();

}  // namespace mw::preflight
