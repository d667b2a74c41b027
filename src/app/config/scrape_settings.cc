#include "app/config/scrape_settings.h"

#include "base/text.h"
#include "sense/processes/prometheus.h"

namespace mw {
namespace {

constexpr std::string_view kScrapes = "scrape";
constexpr size_t kFiguresLimit = 32;  // of one endpoint

std::string path_of(std::string_view name, std::string_view key) { return cat(kScrapes, ".", name, ".", key); }

Endpoint::Figure figure_of(const std::string& text) {
  constexpr std::string_view kRate = "rate(";
  if (!text.starts_with(kRate) || text.back() != ')') return {text, text, false};
  return {text, text.substr(kRate.size(), text.size() - kRate.size() - 1), true};
}

std::string with_path(std::string url) {
  const size_t host = url.find("://");
  if (host != std::string::npos && url.find('/', host + 3) == std::string::npos) url += "/metrics";
  return url;
}

}  // namespace

std::vector<Endpoint> endpoints_of(const Config& config) {
  std::vector<Endpoint> endpoints;
  for (const std::string& name : config.names(kScrapes)) {
    Endpoint endpoint;
    endpoint.name = name;
    endpoint.url = with_path(config.text(path_of(name, "address")));
    for (const std::string& text : config.texts(path_of(name, "metrics"))) endpoint.figures.push_back(figure_of(text));
    endpoint.every = config.duration(path_of(name, "every"));
    endpoint.timeout = config.duration(path_of(name, "timeout"));
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

std::vector<ConfigProblem> scrape_problems(const Config& config) {
  std::vector<ConfigProblem> problems;
  size_t number = 0;
  for (const Endpoint& endpoint : endpoints_of(config)) {
    const auto wrong = [&](std::string_view key, std::string_view what, std::string hint) {
      const ConfigValue* value = config.find(path_of(endpoint.name, key));
      problems.push_back({value == nullptr ? config.line_of(kScrapes, endpoint.name) : value->line,
                          cat("scrape ", endpoint.name, what), std::move(hint)});
    };
    if (!endpoint.url.starts_with("http://") && !endpoint.url.starts_with("https://")) {
      wrong("address", ": the address is none",
            "It begins with http:// or https://, as in \"http://127.0.0.1:9400/metrics\".");
    }
    if (++number > kEndpointsLimit)
      wrong("address", cat(" is one more than the ", kEndpointsLimit, " endpoints that are asked"), "");
    if (endpoint.figures.empty())
      wrong("metrics", " names no metric", "Write metrics = [\"NAME\", \"rate(COUNTER)\"].");
    if (endpoint.figures.size() > kFiguresLimit) {
      wrong("metrics", cat(" names more than ", kFiguresLimit, " metrics"), "");
    }
    for (const Endpoint::Figure& figure : endpoint.figures) {
      if (components::is_metric_name(figure.metric)) continue;
      wrong("metrics", cat(": \"", clip(sanitize_utf8(figure.shown), 80), "\" is no metric"),
            "Name it without labels: each is the sum over them.");
      break;
    }
  }
  return problems;
}

}  // namespace mw
