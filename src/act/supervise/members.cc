#include "act/supervise/members.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {

std::string mark_of(const RunSpec& spec, int attempt) { return spec.mark.empty() ? "" : cat(spec.mark, "-", attempt); }

std::string members_text(const std::vector<ProcessId>& members, std::string_view nonce, std::string_view boot) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("run").string(nonce).key("boot").string(boot);
    json.key("members").begin_array();
    for (const ProcessId& id : members) {
      json.begin_object().key("pid").integer(id.pid).key("start").integer(static_cast<int64_t>(id.start)).end_object();
    }
    json.end_array().end_object();
  }
  return out;
}

std::vector<ProcessId> parse_members(std::string_view text, std::string_view boot) {
  std::vector<ProcessId> members;
  const auto json = Json::parse(text);
  if (!json.ok() || !json->is_object() || json->string_or("boot", "") != boot) return members;
  const Json* list = json->find("members");
  if (list == nullptr || !list->is_array()) return members;
  for (const Json& one : list->items()) {
    if (!one.is_object()) continue;
    const ProcessId id{one.integer_or("pid", 0), static_cast<uint64_t>(one.integer_or("start", 0))};
    if (id.known()) members.push_back(id);
  }
  return members;
}

}  // namespace mw
