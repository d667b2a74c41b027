// Somebody uses the GPUs already.
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr double kIdle = 1000.0 * (1 << 20);  // bytes; a display or a monitor takes less

void check_busy(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here) return;
  std::string who;
  for (const Gpu& gpu : facts.host.gpus) {
    if (gpu.used > kIdle) who += cat(who.empty() ? "" : ", ", "GPU ", gpu.index, " ", format_bytes(gpu.used));
  }
  if (who.empty()) return;
  Finding finding =
      finding_at(lint, Level::kWarning, nullptr, cat("GPU memory is in use: ", who),
                 "see whose it is (nvidia-smi) and end it if it is an engine that an earlier run left behind");
  finding.on_machine = true;
  out.push_back(std::move(finding));
}

}  // namespace

namespace lints {
extern const Lint gpu_busy;
const Lint gpu_busy = {"gpu-busy",
                       Level::kWarning,
                       "A GPU has memory in use before the run begins (over 1000 MiB).",
                       "An engine of an earlier run keeps its memory, and the new one does not start.",
                       "the readiness check of a prime-rl project of 2026-01 (validate_training_ready.sh, check 1)",
                       check_busy};
}  // namespace lints

}  // namespace mw::preflight
