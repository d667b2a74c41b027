// What a server states of itself at /metrics, in Prometheus's text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mw::components {

/// Sums over all label sets of each metric whose name begins with one of `prefixes` (separated by single spaces).
/// Values that are not finite and lines that are no samples are left out; at most kMetrics names.
std::map<std::string, double, std::less<>> totals(std::string_view text, std::string_view prefixes);
constexpr size_t kMetrics = 512;

/// Sums over all label sets of the metrics that are called so, likewise.
std::map<std::string, double, std::less<>> totals_of(std::string_view text, const std::vector<std::string>& names);

/// Can a metric be called so?
bool is_metric_name(std::string_view name);

/// The figures by which an inference server shows that it works, under the names of knowledge/engines.
struct EngineFigures {
  std::optional<double> running;    ///< requests that are being worked on
  std::optional<double> waiting;    ///< that wait for their turn
  std::optional<double> generated;  ///< tokens since it was started
  std::optional<double> cache;      ///< share of the memory for keys and values that is in use, 0..1; of the fullest
  bool known() const { return running.has_value() && generated.has_value(); }
};
EngineFigures engine_figures(std::string_view text);

}  // namespace mw::components
