#include "core/preflight/lint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "core/preflight/rule.h"

namespace mw::preflight {
namespace lints {
extern const Lint unreadable_configuration, unknown_key, context_overflow, group_of_one, no_checkpoints,
    keeps_everything, checkpoint_disk, engine_memory_share, gpu_memory, gpu_count, gpu_busy, driver_cuda, vision_model,
    model_trouble, login_missing, open_files, shared_memory, core_dumps, port_taken, clock, stale_state,
    program_missing, out_of_sight;
}

std::span<const Lint* const> all_lints() {
  static constexpr std::array kLints = {&lints::unreadable_configuration,
                                        &lints::unknown_key,
                                        &lints::context_overflow,
                                        &lints::group_of_one,
                                        &lints::vision_model,
                                        &lints::model_trouble,
                                        &lints::gpu_count,
                                        &lints::engine_memory_share,
                                        &lints::gpu_memory,
                                        &lints::gpu_busy,
                                        &lints::driver_cuda,
                                        &lints::no_checkpoints,
                                        &lints::keeps_everything,
                                        &lints::checkpoint_disk,
                                        &lints::stale_state,
                                        &lints::login_missing,
                                        &lints::program_missing,
                                        &lints::out_of_sight,
                                        &lints::port_taken,
                                        &lints::open_files,
                                        &lints::shared_memory,
                                        &lints::core_dumps,
                                        &lints::clock};
  return kLints;
}

Finding finding_at(const Lint& lint, Level level, const Setting* setting, std::string what, std::string fix) {
  Finding finding;
  finding.lint = std::string(lint.name);
  finding.level = level;
  if (setting != nullptr) {
    finding.place = setting->place;
    finding.key = setting->key;
    finding.value = setting->text;
  }
  finding.what = std::move(what);
  finding.why = std::string(lint.why);
  finding.source = std::string(lint.source);
  finding.fix = std::move(fix);
  return finding;
}

std::vector<Finding> check(const Facts& facts, const Catalogue& catalogue) {
  std::vector<Finding> out;
  for (const Lint* lint : all_lints()) lint->check(facts, *lint, out);
  for (const Rule& rule : catalogue.rules) {
    if (auto finding = judge_rule(facts, rule)) out.push_back(std::move(*finding));
  }
  if (facts.framework != nullptr) {
    for (const Rule& rule : facts.framework->rules) {
      if (auto finding = judge_rule(facts, rule)) out.push_back(std::move(*finding));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.level > b.level; });
  return out;
}

}  // namespace mw::preflight
