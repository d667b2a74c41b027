#include "app/config/signal_settings.h"

#include <doctest/doctest.h>

namespace mw {

TEST_CASE("[signals] names metrics, and what is read afterwards knows them, whoever logs them") {
  const Config config = Config::parse("[signals]\nreward = \"J\"\nloss = \"objective\"\n", "midwatch.toml");
  REQUIRE(config.check().ok());
  CHECK(own_names(config) == std::map<std::string, std::string>{{"J", "reward.mean"}, {"objective", "loss.total"}});
  auto knowledge = KnowledgeBase::load({});
  REQUIRE(knowledge.ok());
  const std::string before = (*knowledge)->digest();
  CHECK((*knowledge)->book().generic_meaning("J").signal.empty());
  learn_settings(config, **knowledge);
  CHECK((*knowledge)->book().generic_meaning("J").signal == "reward.mean");
  CHECK((*knowledge)->book().meaning((*knowledge)->book().find("verl"), "objective").signal == "loss.total");
  CHECK((*knowledge)->digest() != before);
}

}  // namespace mw
