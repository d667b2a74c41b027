#include "read/files/wandb_item.h"

#include "core/figure_name.h"
#include "read/files/protobuf.h"

namespace mw {

uint64_t WandbItem::kind() const {
  const char first = json.empty() ? '\0' : json[0];
  const bool number = first == '-' || (first >= '0' && first <= '9');
  return name_hash(key, number ? 1 : static_cast<unsigned char>(first) + uint64_t{2});
}

WandbItem read_wandb_item(std::string_view body, RowBuilder& keeper) {
  WandbItem item;
  bool nested = false;
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 16) {
      item.json = reader.bytes();
    } else if (reader.field() == 2) {
      item.key = nested ? keeper.keep_joined(item.key, reader.bytes()) : reader.bytes();
      nested = true;
    } else if (reader.field() == 1 && !nested) {
      item.key = reader.bytes();
    }
  }
  return item;
}

}  // namespace mw
