// What the names of ranks' files and folders say: DeepSpeed's and Megatron's. (FSDP's: rank_shard_of.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mw {

/// "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt".
struct ZeroName {
  bool model = false;
  int64_t data = -1, tensor = -1;  ///< ranks; data -1: one file for all
  std::string prefix;              ///< "", "bf16_", …
};
std::optional<ZeroName> zero_name_of(std::string_view name);

/// "mp_rank_00", or "mp_rank_00_001" where there are several pipeline ranks (a third number: of experts).
struct MegatronRank {
  int64_t tensor = 0, pipeline = 0;
  bool names_pipeline = false;
};
std::optional<MegatronRank> megatron_rank_of(std::string_view folder);

}  // namespace mw
