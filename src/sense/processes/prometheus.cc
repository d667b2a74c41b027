#include "sense/processes/prometheus.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "read/books/engine_book.h"

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

using Totals = std::map<std::string, double, std::less<>>;

template <typename Each>
void each_sample(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (const auto one = sample(line)) each(one->first, one->second);
  }
}

void add(Totals& found, std::string_view name, double value) {
  const auto known = found.find(name);
  if (known == found.end() && found.size() >= kMetrics) return;
  double& sum = known != found.end() ? known->second : found[std::string(name)];
  if (std::isfinite(sum + value)) sum += value;
}

/// Of several engines behind one address the sum would mean nothing.
std::optional<double> cache_use(std::string_view text) {
  std::optional<double> most;
  each_sample(text, [&most](std::string_view name, double value) {
    const auto has = [name](const Engine& engine) {
      return std::find(engine.kv_usage.begin(), engine.kv_usage.end(), name) != engine.kv_usage.end();
    };
    const bool is = std::any_of(built_in_engines().begin(), built_in_engines().end(), has);
    if (is && value >= 0 && value <= 1) most = std::max(most.value_or(0), value);
  });
  return most;
}

using Names = std::vector<std::string> Engine::*;

/// The figure under the first of its names that is there, of whichever engine it is.
std::optional<double> first_of(const Totals& all, Names names) {
  for (const Engine& engine : built_in_engines()) {
    for (const std::string& name : engine.*names) {
      if (const auto found = all.find(name); found != all.end()) return found->second;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_metric_name(std::string_view name) {
  const bool digit = !name.empty() && name.front() >= '0' && name.front() <= '9';
  return !name.empty() && !digit && name.size() <= kNameBytes && std::all_of(name.begin(), name.end(), in_name);
}

std::map<std::string, double, std::less<>> totals(std::string_view text, std::string_view prefixes) {
  Totals found;
  each_sample(text, [&](std::string_view name, double value) {
    if (begins_with_one(name, prefixes)) add(found, name, value);
  });
  return found;
}

std::map<std::string, double, std::less<>> totals_of(std::string_view text, const std::vector<std::string>& names) {
  Totals found;
  each_sample(text, [&](std::string_view name, double value) {
    if (std::find(names.begin(), names.end(), name) != names.end()) add(found, name, value);
  });
  return found;
}

EngineFigures engine_figures(std::string_view text) {
  static const std::vector<std::string> wanted = [] {
    std::vector<std::string> names;
    for (const Engine& engine : built_in_engines()) {
      for (const Names of : {&Engine::running, &Engine::waiting, &Engine::generated}) {
        names.insert(names.end(), (engine.*of).begin(), (engine.*of).end());
      }
    }
    return names;
  }();
  const Totals all = totals_of(text, wanted);
  EngineFigures figures;
  figures.running = first_of(all, &Engine::running);
  figures.waiting = first_of(all, &Engine::waiting);
  figures.generated = first_of(all, &Engine::generated);
  figures.cache = cache_use(text);
  return figures;
}

}  // namespace mw::components
