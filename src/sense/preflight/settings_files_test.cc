#include "sense/preflight/settings_files.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace mw;
using namespace mw::preflight;

namespace {

Settings yaml(std::string_view text) {
  Settings out;
  const auto read = read_yaml(text, "a.yaml", "", out);
  CHECK_MESSAGE(read.ok(), (read.ok() ? "" : read.error().what));
  return out;
}

std::string yaml_error(std::string_view text) {
  Settings out;
  const auto read = read_yaml(text, "a.yaml", "", out);
  CHECK(out.all().empty());
  return read.ok() ? "" : read.error().what;
}

const Setting& at(const Settings& settings, std::string_view key) {
  const Setting* found = settings.find(key);
  REQUIRE_MESSAGE(found != nullptr, key);
  return *found;
}

}  // namespace

TEST_CASE("YAML: tables, lists, kinds of values, and where each stands") {
  const Settings read = yaml("a:\n  b: 12\n  c: [1, 2]\n  d:\n    - x: true\n    - x: ~\ne: '7'\nf: 1e-6\n");
  CHECK(at(read, "a").kind == Setting::Kind::kTable);
  CHECK(at(read, "a.b").number == 12);
  CHECK(place_text(at(read, "a.b").place) == "a.yaml:2");
  CHECK(at(read, "a.c").number == 2);
  CHECK(at(read, "a.c.1").text == "2");
  CHECK(at(read, "a.d.0.x").kind == Setting::Kind::kTruth);
  CHECK(at(read, "a.d.1.x").kind == Setting::Kind::kNone);
  CHECK(at(read, "e").kind == Setting::Kind::kText);
  CHECK(at(read, "f").number == doctest::Approx(1e-6));
}

TEST_CASE("YAML: anchors, merged tables, and what OmegaConf fills in later") {
  const Settings read = yaml("base: &b\n  n: 1\n  m: 2\nuse:\n  <<: *b\n  m: 3\nlater: ${base.n}\nwanted: ???\n");
  CHECK(at(read, "use.n").number == 1);
  CHECK(at(read, "use.m").number == 3);
  CHECK(at(read, "later").unsure);
  CHECK(at(read, "wanted").unsure);
}

TEST_CASE("YAML that is none says where") {
  CHECK(contains(yaml_error("a:\n  b: [1, 2\nc: 3\n"), "a.yaml:3: "));
  CHECK(contains(yaml_error("- a\n- b\n"), "a.yaml:1: it holds no keys"));
  CHECK(yaml("").all().empty());
  CHECK(line_of_error("a.yaml:3: did not find", "a.yaml") == 3);
  CHECK(line_of_error("b.yaml:3: did not find", "a.yaml") == 0);
}

TEST_CASE("YAML: aliases that mean billions of values, and a table within itself, end soon") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += cat("a", i, ": &a", i, " [");
    for (int j = 0; j < 9; ++j) bomb += cat(j == 0 ? "" : ", ", "*a", i - 1);
    bomb += "]\n";
  }
  const Settings read = yaml(bomb);
  CHECK(read.truncated());
  CHECK(read.all().size() == Settings::kLimit);
  Settings own;
  (void)read_yaml("a: &a\n  b: *a\n", "a.yaml", "", own);
  CHECK(own.all().size() <= kSettingsDepth + 2);
}

TEST_CASE("TOML: tables, lists of tables, dates, None; mistakes with their line") {
  Settings read;
  REQUIRE(
      read_toml("n = 1\nday = 2026-01-05\n[a]\nx = \"None\"\n[[a.b]]\ny = 2.5\n[[a.b]]\ny = 3\n", "a.toml", "", read)
          .ok());
  CHECK(at(read, "n").number == 1);
  CHECK(at(read, "day").text == "2026-01-05");
  CHECK(at(read, "a.x").kind == Setting::Kind::kNone);
  CHECK(at(read, "a.b").kind == Setting::Kind::kList);
  CHECK(at(read, "a.b.1.y").number == 3);
  CHECK(place_text(at(read, "a.b.0.y").place) == "a.toml:6");
  Settings bad;
  const auto error = read_toml("a = 1\nb = \n", "a.toml", "", bad);
  REQUIRE(!error.ok());
  CHECK(error.error().what.starts_with("a.toml:2: "));
}

TEST_CASE("what is put below a prefix stays there") {
  Settings read;
  REQUIRE(read_settings("x = 1\n", "t.toml", "trainer", read).ok());
  CHECK(at(read, "trainer.x").number == 1);
  CHECK(at(read, "trainer").kind == Setting::Kind::kTable);
}

TEST_CASE("the last setting wins, and a value takes the place of a table") {
  Settings read = yaml("a:\n  b: 1\n  c: 2\n");
  read.put(read_scalar("a.b", "5", {}));
  CHECK(at(read, "a.b").number == 5);
  CHECK(at(read, "a.c").number == 2);
  read.put(read_scalar("a", "null", {}));
  CHECK(read.find("a.c") == nullptr);
  CHECK(!read.has("a"));
}
