// Room for the checkpoints that are kept, and the one that is being written.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/estimate.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kEndless = 100;  // kept: nobody means to have so many, it stands for all
constexpr double kUnsure = 0.7;   // of an estimate; what is measured counts in full

void check_disk(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!saves_checkpoints(facts).value_or(false)) return;
  const auto size = checkpoint_size(facts);
  if (!size.has_value()) return;
  const Value keep = value_of(facts, "checkpoint_keep");
  const double asked = std::max(1.0, keep.number.value_or(1));
  const double kept = asked > kEndless ? 1 : asked;
  const double need = (kept + 1) * size->bytes;
  for (const DiskSpace& disk : facts.host.disks) {
    if (disk.what != "checkpoints" || disk.free >= need) continue;
    const bool sure = disk.free < need * (size->measured ? 1 : kUnsure);
    const Setting* at = keep.setting != nullptr ? keep.setting : value_of(facts, "checkpoint_every").setting;
    out.push_back(finding_at(
        lint, sure ? Level::kError : Level::kWarning, at,
        cat(disk.folder, " has ", format_bytes(disk.free), " free; ", format_short(kept),
            " kept and one that is being written take ", format_bytes(need), " (", format_bytes(size->bytes), " each, ",
            size->how, ")"),
        kept > 1 ? cat("free space, take a larger disk, or lower ", keep.key) : "free space, or take a larger disk"));
  }
}

}  // namespace

namespace lints {
extern const Lint checkpoint_disk;
const Lint checkpoint_disk = {
    "checkpoint-disk",
    Level::kError,
    "The disk does not hold the kept checkpoints and one more.",
    "Frameworks delete the oldest after the new one is written: one more than is kept must fit, or the save dies "
    "(inline_container.cc: unexpected pos; CheckpointException).",
    "prime-rl cleans after the save; the readiness check of a prime-rl project (free space for 4 to 5 checkpoints)",
    check_disk};
}  // namespace lints

}  // namespace mw::preflight
