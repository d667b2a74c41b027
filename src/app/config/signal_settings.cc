#include "app/config/signal_settings.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "app/config/rule_settings.h"
#include "base/text.h"

namespace mw {
namespace {

struct Key {
  std::string_view key, signal;  ///< below "signals."
};
constexpr std::array kSignalKeys = {Key{"reward", "reward.mean"},
                                    Key{"pass_rate", "reward.pass_rate"},
                                    Key{"loss", "loss.total"},
                                    Key{"policy_loss", "loss.policy"},
                                    Key{"kl", "kl.ref"},
                                    Key{"entropy", "entropy"},
                                    Key{"grad_norm", "grad_norm"},
                                    Key{"response_length", "response.length"},
                                    Key{"lr", "lr"}};

}  // namespace

std::map<std::string, std::string> own_names(const Config& config) {
  std::map<std::string, std::string> names;
  for (const Key& one : kSignalKeys) {
    const std::string raw = config.text(cat("signals.", one.key));
    if (!raw.empty()) names[raw] = std::string(one.signal);
  }
  return names;
}

void learn_settings(const Config& config, KnowledgeBase& knowledge) {
  knowledge.known().learn_environment(environ);  // of the variables, too, that the file declares secret
  knowledge.add(user_rules(config));
  knowledge.name_signals(own_names(config));
  knowledge.name_checkpoints(config.text("checkpoints.pattern"));
}

}  // namespace mw
