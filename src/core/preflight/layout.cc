#include "core/preflight/layout.h"

#include <algorithm>

#include "base/text.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

/// The items of a list of GPUs: "[0, 1]" on the command line, "a.0", "a.1" of a file.
std::vector<std::string> ids_of(const Facts& facts, std::string_view name) {
  std::vector<std::string> out;
  const Value value = value_of(facts, name);
  if (!value.known) return out;
  std::string_view text = trim(value.text);
  if (text.starts_with('[') && text.ends_with(']')) {
    for (const std::string_view one : split(text.substr(1, text.size() - 2), ',')) {
      if (!trim(one).empty()) out.emplace_back(trim(one));
    }
    return out;
  }
  const std::string below = cat(value.key, ".");
  const auto& all = facts.settings.all();
  for (auto at = all.lower_bound(below); at != all.end() && at->first.starts_with(below); ++at)
    out.push_back(at->second.text);
  return out;
}

}  // namespace

Layout layout_of(const Facts& facts) {
  Layout out;
  out.trainer = ids_of(facts, "trainer_gpu_ids");
  out.engine = ids_of(facts, "engine_gpu_ids");
  out.trainer_count = out.trainer.empty() ? number_of(facts, "trainer_gpus") : static_cast<double>(out.trainer.size());
  out.engine_count = out.engine.empty() ? number_of(facts, "engine_gpus") : static_cast<double>(out.engine.size());
  for (const std::string& id : out.trainer) {
    out.shared = out.shared || std::find(out.engine.begin(), out.engine.end(), id) != out.engine.end();
  }
  const bool apart = truth_of(facts, "asynchronous").value_or(false);  // then only trainer and reference share
  out.shared = out.shared || (truth_of(facts, "colocated").value_or(false) && !apart);
  out.takes_turns = out.shared && truth_of(facts, "engine_sleeps").value_or(false);
  return out;
}

std::optional<double> gpu_bytes(const Facts& facts) {
  std::optional<double> least;
  for (const Gpu& gpu : facts.host.gpus) {
    if (gpu.bytes > 0 && (!least.has_value() || gpu.bytes < *least)) least = gpu.bytes;
  }
  return least;
}

}  // namespace mw::preflight
