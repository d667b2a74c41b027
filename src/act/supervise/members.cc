#include "act/supervise/members.h"

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

std::string marker_of(const RunSpec& spec, int attempt) {
  return spec.marker.empty() ? "" : cat(spec.marker, "-", attempt);
}

std::string members_text(const std::vector<ProcessId>& members) {
  std::string out;
  for (const ProcessId& id : members) out += cat(out.empty() ? "" : " ", id.pid, ":", id.start);
  return out;
}

std::vector<ProcessId> parse_members(std::string_view text) {
  std::vector<ProcessId> members;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos) continue;
    const auto pid = parse_int(word.substr(0, colon)), start = parse_int(word.substr(colon + 1));
    if (!pid || !start || *start < 0) continue;
    const ProcessId id{*pid, static_cast<uint64_t>(*start)};
    if (id.known()) members.push_back(id);
  }
  return members;
}

}  // namespace mw
