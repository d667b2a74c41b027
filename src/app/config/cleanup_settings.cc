#include "app/config/cleanup_settings.h"

#include "base/text.h"

namespace mw {

CleanupSettings cleanup_settings(const Config& config, bool dry, bool unattended) {
  CleanupSettings settings;
  settings.mode = dry ? Mode::kWatch : mode_of(config.text("cleanup.mode"));
  if (unattended && settings.mode == Mode::kAsk) settings.mode = Mode::kAct;
  settings.what = config.texts("cleanup.what");
  settings.shared = config.text("cleanup.shared_memory");
  settings.keep_last = dry ? 0 : config.number("retention.keep_last");
  settings.keep_every = config.number("retention.keep_every");
  settings.keep_best = config.text("retention.keep_best");
  return settings;
}

std::vector<std::string_view> cleanup_words() {
  for (const ConfigKey& key : config_keys()) {
    if (key.path == "cleanup.what") return split(key.choices, ' ');
  }
  return {};
}

}  // namespace mw
