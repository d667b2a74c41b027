#include "app/config/cleanup_settings.h"

#include "base/text.h"
#include "base/units.h"
#include "core/signal.h"

namespace mw {

CleanupSettings cleanup_settings(const Config& config, bool dry, bool unattended) {
  CleanupSettings settings;
  settings.mode = dry ? Mode::kWatch : mode_of(config.text("cleanup.mode"));
  if (unattended && settings.mode == Mode::kAsk) settings.mode = Mode::kAct;
  settings.what = config.texts("cleanup.what");
  settings.shared = config.text("cleanup.shared_memory");
  settings.disk_share = config.real("cleanup.disk_share");
  settings.keep_last = dry ? 0 : config.number("retention.keep_last");
  settings.keep_every = config.number("retention.keep_every");
  settings.keep_best = config.text("retention.keep_best");
  return settings;
}

std::string doubt_of_rules(const CleanupSettings& settings) {
  const std::string best = best_rule(settings.keep_best).signal;
  if (settings.keep_last <= 0 || best.empty() || find_signal(best) != nullptr) return "";
  size_t count = 0;
  const SignalRow* rows = all_signals(&count);
  std::vector<std::string_view> names;
  for (size_t i = 0; i < count; ++i) names.push_back(rows[i].name);
  const std::string_view near = nearest(best, names);
  return cat("keep_best = \"", best, "\" of [retention] is no signal that midwatch knows",
             near.empty() ? "" : cat(" (the closest is ", near, ")"),
             ": while the run itself logs no figure of that name no checkpoint is deleted");
}

std::vector<std::string_view> cleanup_words() {
  for (const ConfigKey& key : config_keys()) {
    if (key.path == "cleanup.what") return split(key.choices, ' ');
  }
  return {};
}

}  // namespace mw
