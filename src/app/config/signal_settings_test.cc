#include "app/config/signal_settings.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/checkpoint_layout.h"

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

TEST_CASE("[checkpoints] pattern names folders of checkpoints, of whatever framework") {
  const Config config = Config::parse("[checkpoints]\npattern = \"ckpt-{step:04}\"\n", "midwatch.toml");
  REQUIRE(config.check().ok());
  auto knowledge = KnowledgeBase::load({});
  REQUIRE(knowledge.ok());
  CHECK_FALSE((*knowledge)->checkpoints_of("custom").known());
  learn_settings(config, **knowledge);
  for (const char* framework : {"custom", "verl"}) {
    const CheckpointLayout layout = (*knowledge)->checkpoints_of(framework);
    CHECK(step_in(layout.folder, "ckpt-0040") == 40);
    CHECK(layout.pointer.empty());
  }
  CHECK(Config::parse("[checkpoints]\npattern = \"step={step}.ckpt\"\n", "midwatch.toml").check().ok());  // Lightning's
  for (const char* file : {"ckpt_{step}.pt", "{step}.PTH", "m{step}.safetensors"}) {
    CHECK(Config::parse(cat("[checkpoints]\npattern = \"", file, "\"\n"), "midwatch.toml").check().ok());
    CHECK(CheckpointLayout{file, "", ""}.names_files());
    CHECK_FALSE(CheckpointLayout{file, "", ""}.names_folders());
  }
  const auto file = Config::parse("[checkpoints]\npattern = \"ckpt_{step}.npz\"\n", "midwatch.toml").check();
  REQUIRE_FALSE(file.ok());
  CHECK(contains(file.error().what, "names a file"));
  CHECK(contains(file.error().hint, "a folder of its own"));
  for (const char* wrong : {"ckpt", "a/{step}", "{step}-{step}", ".{step}", "{step}.tar"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(Config::parse(cat("[checkpoints]\npattern = \"", wrong, "\"\n"), "midwatch.toml").check().ok());
  }
}

}  // namespace mw
