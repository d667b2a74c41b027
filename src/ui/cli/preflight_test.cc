#include <doctest/doctest.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"
#include "ui/testing/fake_run.h"

namespace mw {
namespace {

int run(FakeServices& services, std::vector<std::string> words) {
  words.insert(words.begin(), {"midwatch", "preflight"});
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return run_command(static_cast<int>(argv.size()), argv.data(), all_verbs(), services, Console{});
}

preflight::Finding finding(preflight::Level level) {
  preflight::Finding one;
  one.lint = "context-overflow";
  one.level = level;
  one.place = {"a.toml", 3};
  one.what = "it does not fit";
  return one;
}

TEST_CASE("preflight exits with 10 on errors, with --strict on warnings, and never on notes") {
  FakeServices services(State{});
  CHECK(run(services, {"--", "bash", "train.sh"}) == 0);
  services.preflight_answer.findings = {finding(preflight::Level::kNote)};
  CHECK(run(services, {"--strict", "--", "bash", "train.sh"}) == 0);
  services.preflight_answer.findings = {finding(preflight::Level::kWarning)};
  CHECK(run(services, {"--", "bash", "train.sh"}) == 0);
  CHECK(run(services, {"--strict", "--json", "--", "bash", "train.sh"}) == static_cast<int>(Exit::kIncident));
  services.preflight_answer.findings = {finding(preflight::Level::kError)};
  CHECK(run(services, {"--", "bash", "train.sh"}) == static_cast<int>(Exit::kIncident));
}

TEST_CASE("preflight passes on what was asked, and without a command what the settings would start") {
  FakeServices services(State{});
  CHECK(run(services, {"--gpus", "2xH100", "--disk", "5GB", "--like", "old", "--ignore", "clock", "--ignore",
                       "open-files", "--config", "a.toml", "--", "bash", "train.sh", "--json"}) == 0);
  CHECK(services.looked_at.command == std::vector<std::string>{"bash", "train.sh", "--json"});
  CHECK(services.looked_at.files == std::vector<std::string>{"a.toml"});
  CHECK(services.looked_at.gpus == "2xH100");
  CHECK(services.looked_at.disk == "5GB");
  CHECK(services.looked_at.like == "old");
  CHECK(services.looked_at.ignored == std::vector<std::string>{"clock", "open-files"});
  CHECK(run(services, {}) == static_cast<int>(Exit::kUsage));
}

}  // namespace
}  // namespace mw
