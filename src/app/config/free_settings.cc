#include "app/config/free_settings.h"

#include "base/text.h"

namespace mw {

FreeSettings free_settings(const Config& config, bool dry) {
  FreeSettings settings;
  settings.mode = dry ? Mode::kWatch : mode_of(config.text("free-space.mode"));
  settings.what = config.texts("free-space.what");
  settings.shared = config.text("free-space.shared_memory");
  settings.keep_last = dry ? 0 : config.number("retention.keep_last");
  settings.keep_every = config.number("retention.keep_every");
  return settings;
}

std::vector<std::string_view> free_words() {
  for (const ConfigKey& key : config_keys()) {
    if (key.path == "free-space.what") return split(key.choices, ' ');
  }
  return {};
}

}  // namespace mw
