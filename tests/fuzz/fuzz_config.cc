// links: app
// Any bytes as midwatch.toml: problems with a line and words, or values within their limits.
#include <cmath>

#include "app/config/config.h"
#include "base/check.h"
#include "base/units.h"
#include "fuzz.h"
#include "platform/paths.h"

namespace mw {

void fuzz_one(std::string_view input) {
  const Config config = Config::parse(input, "/work/midwatch.toml");
  for (const ConfigProblem& problem : config.problems()) MW_CHECK(!problem.what.empty());
  MW_CHECK(config.check().ok() == config.problems().empty());
  if (!config.problems().empty()) return;
  for (const auto& [path, value] : config.all()) {
    MW_CHECK(!value_text(*value).empty());
    const ConfigKey& key = *value->key;
    if (key.kind == ConfigKey::Kind::kNumber) MW_CHECK(std::isfinite(value->real));
    const bool timed = key.kind == ConfigKey::Kind::kDuration;
    if (!timed && key.kind != ConfigKey::Kind::kInteger && key.kind != ConfigKey::Kind::kSize) continue;
    const double number = static_cast<double>(value->number) / (timed ? 1e9 : 1);
    MW_CHECK(number >= key.least && number <= key.most);
  }
  (void)check_root(input.substr(0, 200));
}

std::vector<std::string> fuzz_seeds() {
  std::string all;
  for (const ConfigKey& key : config_keys()) {
    if (!key.otherwise.empty()) all += std::string(key.path) + " = " + std::string(key.otherwise) + "\n";
  }
  return {all,
          "[run]\ncommand = [\"bash\", \"train.sh\"]\nrestarts = 3\ngrace = \"1m 30s\"\n",
          "[rule.a]\nsignal = \"x\"\nbelow = 1.5\nabove = 3\nseverity = \"critical\"\nbreaker = true\n",
          "[scrape.a]\naddress = \"http://h:1\"\nmetrics = [\"x\", \"rate(y)\"]\nevery = \"5s\"\n",
          "[run]\nrestart = 3\nhome = \"/\"\n",
          "run.watch = [\"a\", \"../b\"]\nattach.poll = \"250ms\"\n"};
}

}  // namespace mw
