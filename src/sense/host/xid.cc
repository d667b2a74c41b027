#include "sense/host/xid.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::host {
namespace {

// Of NVIDIA's Xid catalogue (docs.nvidia.com/deploy/xid-errors) those that end or report one application's work: engine
// exceptions (13, 69), page faults (31), push buffers (32), channels that were stopped or cleaned up (43, 45), the
// video decoder (68), a memory error contained to the process that read it (94), a context switch that took too long
// (109).
constexpr std::array<int64_t, 9> kOfProcess = {13, 31, 32, 43, 45, 68, 69, 94, 109};

/// The word behind `key`, up to a comma.
std::string_view behind(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + key.size());
  return trim(rest.substr(0, rest.find(',')));
}

}  // namespace

std::string place_on_bus(std::string_view text) {
  if (text.starts_with("PCI:")) text.remove_prefix(4);
  text = text.substr(0, text.find('.'));
  const size_t domain = text.find(':');
  if (domain != std::string_view::npos && domain > 4) text.remove_prefix(domain - 4);
  return to_lower(text);
}

std::optional<Xid> parse_xid(std::string_view line) {
  constexpr std::string_view kBegin = "NVRM: Xid (";
  const size_t at = line.find(kBegin);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + kBegin.size());
  const size_t close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view said = rest.substr(close + 3);
  const auto number = parse_int(trim(said.substr(0, said.find(','))));
  if (!number) return std::nullopt;
  Xid xid;
  xid.number = *number;
  xid.gpu = place_on_bus(rest.substr(0, close));
  xid.pid = parse_int(behind(said, "pid=")).value_or(0);
  const std::string_view process = behind(said, "name=");
  if (!process.starts_with("<")) xid.process = process;  // "<unknown>"
  return xid;
}

bool is_of_process(int64_t number) {
  return std::find(kOfProcess.begin(), kOfProcess.end(), number) != kOfProcess.end();
}

bool is_foreign_gpu(const Seen& seen, std::string_view place) {
  return !seen.used_gpus.empty() && !place.empty() && seen.used_gpus.count(place) == 0 && seen.gpus.count(place) > 0;
}

}  // namespace mw::host
