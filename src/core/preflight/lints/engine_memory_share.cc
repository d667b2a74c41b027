// The share of a GPU's memory that the engine takes.
#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/layout.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kMostOfShared = 0.8;  // with a trainer beside it; 0.45 to 0.5 worked on 80 GB with 7B and LoRA
constexpr double kMostOfOwn = 0.97;    // the driver, NCCL and CUDA graphs take what vLLM does not count

void check_share(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const Value share = value_of(facts, "engine_memory");
  if (!share.number.has_value()) return;
  const double value = *share.number;
  const std::string set = cat(share.key, share.set ? " = " : " is not set, so it is ", format_short(value));
  if (share.set && (value <= 0 || value > 1)) {
    out.push_back(finding_at(lint, Level::kError, share.setting, cat(set, ": it is a share from 0 to 1"),
                             cat("write ", value > 1 && value <= 100 ? format_short(value / 100) : "0.5", " for it")));
    return;
  }
  const Layout layout = layout_of(facts);
  if (layout.shared && !layout.takes_turns && value >= kMostOfShared) {
    out.push_back(finding_at(lint, Level::kError, share.setting, cat(set, ", on a GPU that the trainer uses as well"),
                             cat("set ", share.key, " to 0.5 or less")));
  } else if (share.set && value > kMostOfOwn) {
    out.push_back(finding_at(lint, Level::kWarning, share.setting,
                             cat(set, ": that leaves nothing for CUDA graphs and NCCL"),
                             cat("set ", share.key, " to 0.9")));
  }
}

}  // namespace

namespace lints {
extern const Lint engine_memory_share;
const Lint engine_memory_share = {"engine-memory-share",
                                  Level::kError,
                                  "The engine's share of GPU memory is no share, or leaves the trainer nothing.",
                                  "vLLM and SGLang take their share at the start, whatever else is on the GPU: 'Free "
                                  "memory on device (48.97/79.18 GiB) on "
                                  "startup is less than desired GPU memory utilization (0.9, 71.26 GiB)'.",
                                  "vLLM's gpu_memory_utilization; a prime-rl run of 2026-01 with both on one H100",
                                  check_share};
}  // namespace lints

}  // namespace mw::preflight
