// A name and its value in a record of a W&B run file.
#pragma once

#include <cstdint>
#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

struct WandbItem {
  std::string_view key;  ///< as one path
  std::string_view json;

  /// The same for items of one name whose values are of one kind: numbers, or what else begins with one byte.
  uint64_t kind() const;
};

/// Item of a history, summary, configuration (key 1, nested_key 2) or system record (key 1); value_json is 16, or 2 in
/// configurations of older writers. `keeper` holds the path when it had to be joined.
WandbItem read_wandb_item(std::string_view body, RowBuilder& keeper);

}  // namespace mw
