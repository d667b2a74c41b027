#include "act/cleanup/trainers_best.h"

#include <string_view>

#include "base/text.h"
#include "platform/durable.h"

namespace mw {

std::string trainers_best(Disk& disk, const std::string& folder) {
  constexpr std::string_view kBestOne = "\"best_model_checkpoint\": \"";
  // It stands before the history, which may be long.
  const auto text = read_small(disk, cat(folder, "/trainer_state.json"));
  const size_t key = text.ok() ? text->find(kBestOne) : std::string::npos;
  if (key == std::string::npos) return "";
  const size_t from = key + kBestOne.size(), end = text->find('"', from);
  return end == std::string::npos ? "" : std::string(basename(std::string_view(*text).substr(from, end - from)));
}

}  // namespace mw
