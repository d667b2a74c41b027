#include "core/knowledge.h"

#include <algorithm>
#include <utility>

namespace mw {
namespace {}  // namespace

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

bool Knowledge::is_engine(std::string_view name) const {
  return std::any_of(engines.begin(), engines.end(), [name](const Engine& one) { return one.name == name; });
}

const Signature* Knowledge::find(std::string_view id) const {
  const auto found = by_id.find(std::string(id));
  return found == by_id.end() || found->second >= signatures.size() ? nullptr : &signatures[found->second];
}

const Cause* Knowledge::find_cause(std::string_view id) const {
  const auto at = std::lower_bound(causes.begin(), causes.end(), id,
                                   [](const Cause& cause, std::string_view wanted) { return cause.id < wanted; });
  return at != causes.end() && at->id == id ? &*at : nullptr;
}

void Knowledge::add(UserRule rule) {
  Cause cause;
  cause.id = rule.cause();
  cause.title = "A rule of your own.";
  cause.fix = rule.text;
  const auto place = std::lower_bound(causes.begin(), causes.end(), cause.id,
                                      [](const Cause& one, const std::string& id) { return one.id < id; });
  if (place != causes.end() && place->id == cause.id) {
    *place = std::move(cause);
  } else {
    causes.insert(place, std::move(cause));
  }
  const auto at = std::lower_bound(rules.begin(), rules.end(), rule.name,
                                   [](const UserRule& one, const std::string& name) { return one.name < name; });
  if (at != rules.end() && at->name == rule.name) {
    *at = std::move(rule);
  } else {
    rules.insert(at, std::move(rule));
  }
}

const UserRule* Knowledge::find_rule(std::string_view cause) const {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [cause](const UserRule& rule) { return rule.cause() == cause; });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace mw
