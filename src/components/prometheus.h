// What a server tells of itself at /metrics, in Prometheus's text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mw::components {

/// Sums over all label sets of each metric whose name begins with one of `prefixes` (separated by single spaces).
/// Values that are not finite and lines that are no samples are left out; at most kMetrics names.
std::map<std::string, double, std::less<>> totals(std::string_view text, std::string_view prefixes);
constexpr size_t kMetrics = 512;

/// The figures by which an inference server shows that it works, under vLLM's or SGLang's names.
struct EngineFigures {
  std::optional<double> running;    ///< requests that are being worked on
  std::optional<double> waiting;    ///< that wait for their turn
  std::optional<double> generated;  ///< tokens since it was started
  bool known() const { return running.has_value() && generated.has_value(); }
};
EngineFigures engine_figures(std::string_view text);

}  // namespace mw::components
