#include "core/knowledge.h"

namespace mw {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      return "critical";
  }
  return "warning";
}

const Signature* Knowledge::find(std::string_view id) const {
  const auto found = by_id.find(std::string(id));
  return found == by_id.end() || found->second >= signatures.size() ? nullptr : &signatures[found->second];
}

}  // namespace mw
