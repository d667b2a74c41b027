// links: sense
// Any bytes as a trainer's configuration, YAML or TOML: an error with words, or settings within their limits, each with
// a line of the file.
#include "base/text.h"
#include "fuzz.h"
#include "sense/preflight/settings_files.h"

namespace mw {
namespace {

void look(const Result<void>& read, const preflight::Settings& settings, size_t lines) {
  if (!read.ok()) {
    MW_CHECK(!read.error().what.empty());
    MW_CHECK(settings.all().empty());
    return;
  }
  MW_CHECK(settings.all().size() <= preflight::Settings::kLimit);
  for (const auto& [key, setting] : settings.all()) {
    MW_CHECK(!key.empty() && key == setting.key);
    MW_CHECK(setting.place.file == "f" && setting.place.line <= lines + 1);
    MW_CHECK(settings.has(key) || setting.kind == preflight::Setting::Kind::kNone);
  }
}

}  // namespace

void fuzz_one(std::string_view input) {
  // Unicode has line ends of its own, which YAML counts as well.
  const size_t lines = input.size();
  preflight::Settings yaml, toml;
  const auto read_yaml = preflight::read_yaml(input, "f", "", yaml);
  look(read_yaml, yaml, lines);
  const auto read_toml = preflight::read_toml(input, "f", "", toml);
  look(read_toml, toml, lines);
  (void)preflight::line_of_error(input, "f");
}

std::vector<std::string> fuzz_seeds() {
  return {"a: &x\n  b: [1, 2]\n  c: {d: e}\nf:\n  <<: *x\n  g: ${a.b}\n",
          "defaults:\n  - base\n  - _self_\ntrainer:\n  lr: 1e-6\n  on: yes\n  none: ~\n",
          "a: &a [*a, *a]\n",
          "a: !!python/object/apply:os.system ['x']\n",
          "{\"a\": {\"b\": [1, \"x\\u0000y\"]}}\n",
          "x = 1\nday = 2026-01-05\n[a.b]\nc = [1, 2]\n[[a.d]]\ne = \"None\"\n",
          "? [complex, key]\n: value\n--- \nb: 1\n"};
}

}  // namespace mw
