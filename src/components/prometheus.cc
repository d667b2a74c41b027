#include "components/prometheus.h"

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::components {
namespace {

constexpr size_t kNameBytes = 200;

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/// Where the labels that begin at `at` ('{') end: behind the brace. npos when they do not. A label's value may hold
/// anything, with \" for a quotation mark.
size_t behind_labels(std::string_view line, size_t at) {
  bool quoted = false;
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '}' && !quoted) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

bool begins_with_one(std::string_view name, std::string_view prefixes) {
  for (const std::string_view prefix : split(prefixes, ' ')) {
    if (!prefix.empty() && name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

/// `name{labels} value timestamp`; nothing when the line is no such thing.
std::optional<std::pair<std::string_view, double>> sample(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && in_name(line[end])) ++end;
  if (end == 0 || end > kNameBytes) return std::nullopt;
  size_t at = end;
  if (at < line.size() && line[at] == '{') at = behind_labels(line, at);
  if (at == std::string_view::npos || at >= line.size() || (line[at] != ' ' && line[at] != '\t')) return std::nullopt;
  std::string_view rest = trim(line.substr(at));
  rest = rest.substr(0, rest.find_first_of(" \t"));
  const auto value = parse_double(rest);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return std::pair(line.substr(0, end), *value);
}

std::optional<double> first_of(const std::map<std::string, double, std::less<>>& all,
                               std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = all.find(name); found != all.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace

std::map<std::string, double, std::less<>> totals(std::string_view text, std::string_view prefixes) {
  std::map<std::string, double, std::less<>> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const auto one = sample(line);
    if (!one || !begins_with_one(one->first, prefixes)) continue;
    const auto known = found.find(one->first);
    if (known == found.end() && found.size() >= kMetrics) continue;
    double& sum = known != found.end() ? known->second : found[std::string(one->first)];
    const double now = sum + one->second;
    if (std::isfinite(now)) sum = now;
  }
  return found;
}

EngineFigures engine_figures(std::string_view text) {
  const auto all = totals(text, "vllm:num_requests_ vllm:generation_tokens sglang:num_ sglang:generation_tokens");
  EngineFigures figures;
  figures.running = first_of(all, {"vllm:num_requests_running", "sglang:num_running_reqs"});
  figures.waiting = first_of(all, {"vllm:num_requests_waiting", "sglang:num_queue_reqs"});
  figures.generated =
      first_of(all, {"vllm:generation_tokens_total", "vllm:generation_tokens", "sglang:generation_tokens_total"});
  return figures;
}

}  // namespace mw::components
