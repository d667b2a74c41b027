#include "core/user_rule.h"

#include <algorithm>

namespace mw {

RuleFigures figures_of(const State& state, const UserRule& rule) {
  RuleFigures figures;
  figures.own = state.find(rule.signal);
  if (figures.own == nullptr) figures.own = state.find_raw(rule.signal);
  if (figures.own != nullptr) return figures;
  const std::string_view name = rule.signal;
  const size_t colon = name.find(':');
  for (const Series& series : state.host) {
    const bool all = series.signal == name;
    const bool one = colon != std::string_view::npos && series.signal == name.substr(0, colon) &&
                     series.raw == name.substr(colon + 1);
    if ((all || one) && !series.empty()) figures.machine.push_back(&series);
  }
  return figures;
}

std::vector<std::string> figure_names(const State& state) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (!name.empty()) names.push_back(name);
  };
  for (const auto* all : {&state.series, &state.eval, &state.host}) {
    for (const Series& series : *all) {
      add(series.signal);
      if (all != &state.host) add(series.raw);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace mw
