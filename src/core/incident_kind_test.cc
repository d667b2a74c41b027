#include "core/incident_kind.h"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

TEST_CASE("each kind has one row, and leads only to kinds that have one") {
  std::set<std::string_view> words;
  for (const IncidentKind& kind : incident_kinds()) {
    CHECK(words.insert(kind.word).second);
    CHECK_FALSE(kind.reaction.empty());
    // What is learnt never ends a run by itself.
    if (kind.family == IncidentKind::Family::kLearning) CHECK_FALSE(ends_runs(kind.word));
  }
  for (const IncidentKind& kind : incident_kinds()) {
    if (kind.leads_to.empty()) continue;
    for (const std::string_view effect : split(kind.leads_to, ' ')) {
      INFO(kind.word, " -> ", effect);
      CHECK(words.count(effect) == 1);
      CHECK(may_lead_to(kind.word, effect));
    }
  }
  CHECK_FALSE(may_lead_to("staleness", "crash"));
  CHECK_FALSE(may_lead_to("dance", "crash"));
  CHECK(usual_reaction("dance") == "stop-and-notify");
  CHECK(usual_reaction("network") == "retry");
  CHECK(is_resource("disk-full"));
  CHECK_FALSE(is_resource("disk-pressure"));
  CHECK(taints("zero-reward"));
  CHECK_FALSE(taints("no-learning"));
}

}  // namespace
}  // namespace mw
