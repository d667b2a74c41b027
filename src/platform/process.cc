#include "platform/process.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

bool same_boot(std::string_view recorded, std::string_view now) {
  if (recorded == now) return true;
  return recorded.find('/') == std::string_view::npos && recorded == now.substr(0, now.find('/'));
}

namespace {

/// The markers that an environment has, from `marker` on; "": that is none of them.
std::string_view markers_from(std::string_view environment, std::string_view marker) {
  if (marker.empty()) return {};
  const std::string name = cat(kMarkerVariable, "=");
  for (size_t at = 0; at < environment.size();) {
    const std::string_view setting = environment.substr(at, environment.find('\0', at) - at);
    at += setting.size() + 1;
    if (!setting.starts_with(name)) continue;
    std::string_view markers = setting.substr(name.size());
    while (!markers.empty()) {
      const size_t end = std::min(markers.find(':'), markers.size());
      if (markers.substr(0, end) == marker) return markers;
      markers.remove_prefix(std::min(end + 1, markers.size()));
    }
    return {};  // the first is the one that programs see
  }
  return {};
}

}  // namespace

bool environment_carries(std::string_view environment, std::string_view marker) {
  return !markers_from(environment, marker).empty();
}

bool environment_carries_further(std::string_view environment, std::string_view marker) {
  return markers_from(environment, marker).size() > marker.size() + 1;  // a ':' and what is behind it
}

bool lives(Processes& processes, const ProcessId& id) {
  if (!id.known()) return false;
  const auto info = processes.info(id.pid);
  return info.ok() && info->id == id && info->state != 'Z';
}

Result<ProcessInfo> parse_process_stat(std::string_view text) {
  constexpr size_t kStartField = 22, kFirstBehindName = 3;
  const Error broken{Error::Code::kInvalid, "not the content of a /proc/PID/stat", ""};
  const size_t open = text.find(" ("), shut = text.rfind(") ");
  if (open == std::string_view::npos || shut == std::string_view::npos || shut < open + 2) return broken;
  std::array<std::string_view, kStartField + 1> fields;
  size_t field = kFirstBehindName;
  for (std::string_view rest = trim(text.substr(shut + 2)); !rest.empty() && field <= kStartField; ++field) {
    const size_t end = std::min(rest.find(' '), rest.size());
    fields[field] = rest.substr(0, end);
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view{};
  }
  const auto pid = parse_int(text.substr(0, open));
  const auto parent = parse_int(fields[4]), group = parse_int(fields[5]), session = parse_int(fields[6]);
  const auto start = parse_int(fields[kStartField]);
  if (!pid || *pid <= 0 || fields[3].size() != 1 || !parent || !group || !session || !start || *start < 0) {
    return broken;
  }
  ProcessInfo info;
  info.id = {*pid, static_cast<uint64_t>(*start)};
  info.parent = *parent;
  info.group = *group;
  info.session = *session;
  info.state = fields[3][0];
  info.name = std::string(text.substr(open + 2, shut - open - 2));
  return info;
}

std::vector<ProcessInfo> descendants(const std::vector<ProcessInfo>& all, int64_t root) {
  std::vector<ProcessInfo> found;
  std::vector<int64_t> parents{root};
  // Numbers wrap around, so a child may have a smaller one than its parent: generation by generation.
  for (size_t i = 0; i < parents.size() && parents.size() <= all.size() + 1; ++i) {
    for (const ProcessInfo& process : all) {
      if (process.parent != parents[i] || process.id.pid == root) continue;
      found.push_back(process);
      parents.push_back(process.id.pid);
    }
  }
  return found;
}

}  // namespace mw
