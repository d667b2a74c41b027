#include "app/config/component_settings.h"

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kComponents = "component";

std::string path_of(std::string_view name, std::string_view key) { return cat(kComponents, ".", name, ".", key); }

}  // namespace

std::vector<components::Target> component_targets(const Config& config) {
  std::vector<components::Target> found;
  for (const std::string& name : config.names(kComponents)) {
    components::Target target;
    target.name = name;
    target.declared = true;
    target.kind = config.text(path_of(name, "kind"));
    target.address = config.text(path_of(name, "address"));
    while (!target.address.empty() && target.address.back() == '/') target.address.pop_back();
    target.health = config.text(path_of(name, "health"));
    target.generate = config.text(path_of(name, "probe")) == "generate";
    target.every = config.duration(path_of(name, "every"));
    target.timeout = config.duration(path_of(name, "timeout"));
    target.ready_within = config.duration(path_of(name, "ready_within"));
    found.push_back(std::move(target));
  }
  return found;
}

std::vector<ComponentSpec> component_specs(const Config& config, const std::string& folder,
                                           const std::string& outputs) {
  std::vector<ComponentSpec> found;
  for (const std::string& name : config.names(kComponents)) {
    ComponentSpec spec;
    spec.command = config.texts(path_of(name, "command"));
    if (spec.command.empty()) continue;
    spec.name = name;
    spec.kind = config.text(path_of(name, "kind"));
    spec.address = config.text(path_of(name, "address"));
    spec.folder = folder;
    spec.output = cat(outputs, "/", name, ".log");
    spec.limits.restarts = static_cast<int>(config.number(path_of(name, "restarts")));
    const std::string meanwhile = config.text(path_of(name, "meanwhile"));
    spec.ends = spec.kind == "engine" && (meanwhile.empty() || meanwhile == "end");
    spec.pause = meanwhile == "pause" || (meanwhile.empty() && !spec.ends);
    found.push_back(std::move(spec));
  }
  return found;
}

namespace {

/// As a client of OpenAI's API is given it.
bool is_of_an_api(std::string_view address) {
  while (address.ends_with('/')) address.remove_suffix(1);
  return address.ends_with("/v1");
}

}  // namespace

std::vector<ConfigProblem> component_problems(const Config& config) {
  std::vector<ConfigProblem> problems;
  for (const std::string& name : config.names(kComponents)) {
    const ConfigValue* address = config.find(path_of(name, "address"));
    const bool held = !config.texts(path_of(name, "command")).empty();
    if (address == nullptr || address->line == 0) {
      if (held) continue;
      problems.push_back({config.line_of(kComponents, name), cat("component ", name, " has no address and no command"),
                          "Say where it is asked: address = \"http://127.0.0.1:8000\"."});
    } else if (address->text.rfind("http://", 0) != 0 && address->text.rfind("https://", 0) != 0) {
      problems.push_back({address->line, cat("component ", name, ": the address is none"),
                          "It begins with http:// or https://, as in \"http://127.0.0.1:8000\"."});
    } else if (is_of_an_api(address->text)) {
      // /health and /metrics lie beside it: what a server answers below it says nothing of its health.
      problems.push_back({address->line, cat("component ", name, ": the address ends with the path of its API, /v1"),
                          "Write it without a path, as in \"http://127.0.0.1:8000\"."});
    }
    const ConfigValue* health = config.find(path_of(name, "health"));
    if (health != nullptr && (health->text.empty() || health->text.front() != '/')) {
      problems.push_back({health->line, cat("component ", name, ": health is a path, as \"/health\""), ""});
    }
  }
  return problems;
}

}  // namespace mw
