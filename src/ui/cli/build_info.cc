#include "ui/cli/build_info.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {

std::string version_line(const BuildInfo& build) {
  std::string out = cat("midwatch ", build.version, " (");
  out += build.commit.empty() ? std::string("commit not known") : cat("commit ", build.commit);
  if (!build.date.empty()) out += cat(" of ", build.date);
  for (const std::string_view part : {build.type, build.compiler}) {
    if (!part.empty()) out += cat(", ", part);
  }
  return out + ")";
}

std::string version_json(const BuildInfo& build) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.version/1").key("version").string(build.version);
    json.key("commit").string(build.commit).key("date").string(build.date);
    json.key("type").string(build.type).key("compiler").string(build.compiler).end_object();
  }
  return out + "\n";
}

}  // namespace mw
