// More GPUs than there are.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/layout.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

/// The first GPU that the settings name and the machine does not have; "" when all are there.
std::string missing_id(const Layout& layout, size_t there) {
  for (const auto* ids : {&layout.trainer, &layout.engine}) {
    for (const std::string& id : *ids) {
      const auto number = parse_int(id);
      if (number.has_value() && *number >= static_cast<int64_t>(there)) return id;
    }
  }
  return "";
}

void check_count(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (facts.framework == nullptr) return;
  const bool none = facts.host.is_here && !facts.host.gpus_seen;
  if (none) {
    out.push_back(finding_at(lint, Level::kNote, nullptr,
                             "no NVIDIA GPU is seen on this machine; what depends on it is not checked",
                             "run this on the machine that will train, or say what it has: --gpus 2xH100"));
    return;
  }
  const size_t there = facts.host.gpus.size();
  const Layout layout = layout_of(facts);
  const std::string has = cat("this machine has ", there, there == 1 ? " GPU" : " GPUs");
  if (const std::string id = missing_id(layout, there); !id.empty()) {
    const Value at =
        value_of(facts, "trainer_gpu_ids").set ? value_of(facts, "trainer_gpu_ids") : value_of(facts, "engine_gpu_ids");
    out.push_back(finding_at(lint, Level::kError, at.setting,
                             cat("GPU ", id, " is asked for, and ", has, ", counted from 0"),
                             "name GPUs that are there, or take a larger machine"));
    return;
  }
  const Value node = value_of(facts, "gpus_per_node");
  double wanted = node.number.value_or(0);
  if (!layout.shared && layout.engine.empty() && layout.trainer.empty() && number_of(facts, "nodes").value_or(2) == 1) {
    wanted = std::max(wanted, layout.trainer_count.value_or(0) + layout.engine_count.value_or(0));
  }
  if (wanted <= static_cast<double>(there)) return;
  const std::string how =
      node.set ? cat(node.key, " = ", node.text)
               : cat(node.key.empty() ? std::string("the settings") : node.key, " is not set, so it is ", node.text);
  out.push_back(finding_at(
      lint, node.set || layout.trainer_count.has_value() ? Level::kError : Level::kWarning, node.setting,
      cat(format_short(wanted), " GPUs are asked for (", how, "), and ", has),
      cat("set ", node.key.empty() ? std::string("it") : node.key, " to ", there, ", or take a larger machine")));
}

}  // namespace

namespace lints {
extern const Lint gpu_count;
const Lint gpu_count = {"gpu-count",
                        Level::kError,
                        "The settings ask for more GPUs than the machine has.",
                        "Ray waits for resources that never come; torch ends with 'invalid device ordinal'.",
                        "prime-rl: 'Requested N GPUs via deployment settings, but only M physical GPU(s) are "
                        "available'; Ray's placement groups",
                        check_count};
}  // namespace lints

}  // namespace mw::preflight
