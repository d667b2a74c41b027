// Sound configurations, written after the frameworks' documented examples: nothing in them is an error or a warning,
// and the framework is recognised. tests/preflight/sound/NAME/command has the GPUs in its first line, the command in
// its second.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/system.h"
#include "sense/preflight/host_facts.h"
#include "sense/preflight/testing/world.h"

using namespace mw;
using namespace mw::preflight;

TEST_CASE("sound configurations of all frameworks: nothing to mend") {
  size_t cases = 0;
  const auto system = make_posix_system();
  for (const auto& entry : std::filesystem::directory_iterator(MW_SOURCE_DIR "/tests/preflight/sound")) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    std::ifstream file(entry.path() / "command");
    std::string gpus, line;
    std::getline(file, gpus);
    std::getline(file, line);
    Asked asked;
    asked.folder = entry.path();
    for (const std::string_view word : split(line, ' ')) asked.command.emplace_back(word);
    const auto parsed = parse_gpus(gpus);
    REQUIRE(parsed.ok());
    asked.gpus = *parsed;
    asked.disk = 2e12;
    const Facts facts = gather(*system, built_in(), asked, [] { return GpuSnapshot{}; });
    auto found = check(facts, built_in().catalogue);
    // How a sound configuration is started under midwatch is another matter: one is a job of Ray's.
    std::erase_if(found, [](const auto& one) { return one.lint == "out-of-sight"; });
    CHECK(lines_of(found) == "");
    CHECK((facts.framework != nullptr) == (name != "unknown-trainer"));
    if (facts.framework != nullptr) CHECK(name.starts_with(facts.framework->id));
    ++cases;
  }
  CHECK(cases >= 20);
}

TEST_CASE("GPUs by name and by size") {
  CHECK(parse_gpus("8xH100")->size() == 8);
  CHECK(parse_gpus("A6000")->at(0).bytes == doctest::Approx(51.5e9).epsilon(0.01));
  CHECK(parse_gpus("2x80GB")->at(1).bytes == 80e9);
  CHECK(parse_gpus("4xA100-40GB")->at(0).bytes == doctest::Approx(42.9e9).epsilon(0.01));
  for (const char* wrong : {"", "2x", "0xH100", "2.5xH100", "9999999xH100", "2xFAST", "-1xH100"})
    CHECK(!parse_gpus(wrong).ok());
}
