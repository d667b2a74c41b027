#include "sense/checkpoints/rank_names.h"

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

std::optional<ZeroName> zero_name_of(std::string_view name) {
  ZeroName out;
  constexpr std::string_view kModel = "_model_states.pt", kOptimizer = "_optim_states.pt", kZero = "zero_pp_rank_",
                             kTensor = "mp_rank_";
  out.model = name.ends_with(kModel);
  if (!out.model && !name.ends_with(kOptimizer)) return std::nullopt;
  name.remove_suffix(kModel.size());
  if (const size_t zero = name.find(kZero); zero != std::string_view::npos) {
    out.prefix = name.substr(0, zero);
    name.remove_prefix(zero + kZero.size());
    const size_t end = name.find('_');
    const auto data = parse_int(name.substr(0, end));
    if (end == std::string_view::npos || !data || *data < 0 || *data > 1'000'000) return std::nullopt;
    out.data = *data;
    name.remove_prefix(end + 1);
  }
  if (!name.starts_with(kTensor)) return std::nullopt;
  const auto tensor = parse_int(name.substr(kTensor.size()).substr(0, 2));
  if (!tensor || *tensor < 0) return std::nullopt;
  out.tensor = *tensor;
  return out;
}

std::optional<MegatronRank> megatron_rank_of(std::string_view folder) {
  constexpr std::string_view kRank = "mp_rank_";
  if (!folder.starts_with(kRank)) return std::nullopt;
  const auto pieces = split(folder.substr(kRank.size()), '_');
  if (pieces.empty() || pieces.size() > 3) return std::nullopt;
  const auto first = parse_int(pieces[0]);
  const auto second = pieces.size() > 1 ? parse_int(pieces[1]) : std::optional<int64_t>(0);
  if (!first || !second || *first < 0 || *second < 0 || *first > 100'000 || *second > 100'000) return std::nullopt;
  return MegatronRank{*first, *second, pieces.size() > 1};
}

}  // namespace mw
