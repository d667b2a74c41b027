#include "core/supervise/run_spec.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

RunSpec least() {
  RunSpec spec;
  spec.command = {"true"};
  spec.folder = "/w";
  return spec;
}

/// Gives a member a value that is not its default.
struct Change {
  void operator()(bool* value) const { *value = !*value; }
  void operator()(int* value) const { *value += 3; }
  void operator()(uint64_t* value) const { *value += 3; }
  void operator()(Duration* value) const { value->ns += 3; }
  void operator()(Mode* value) const { *value = *value == Mode::kWatch ? Mode::kAct : Mode::kWatch; }
  void operator()(std::string* value) const { *value += "x\"\n"; }
  void operator()(std::vector<std::string>* value) const { value->push_back("x y"); }
  void operator()(std::map<std::string, std::string>* value) const { (*value)["A"] = "b"; }
};

}  // namespace

TEST_CASE("every setting of a run is written to run.json and read back") {
  for (const RunSetting& setting : run_settings()) {
    CAPTURE(setting.json);
    RunSpec spec = least();
    std::visit(Change(), setting.member(spec));
    const std::string text = run_spec_text(spec);
    CHECK(text != run_spec_text(least()));
    const auto back = parse_run_spec(text);
    REQUIRE(back.ok());
    CHECK(run_spec_text(*back) == text);
  }
}

TEST_CASE("where nobody is there to ask what would ask acts, and what only watches stays so") {
  RunSpec spec;
  spec.restarting = Mode::kWatch;
  answer_for_itself(spec);
  CHECK((spec.breaking == Mode::kAct && spec.breaking_learning == Mode::kAct && spec.breaking_hang == Mode::kAct));
  CHECK(spec.restarting == Mode::kWatch);
}

TEST_CASE("a run.json of an older version has the defaults for what it does not name") {
  const auto spec = parse_run_spec(R"({"version":1,"command":["a"],"folder":"/w"})");
  REQUIRE(spec.ok());
  RunSpec plain = least();
  plain.command = {"a"};
  CHECK(run_spec_text(*spec) == run_spec_text(plain));
}

TEST_CASE("a run.json without a command or a folder is refused, and values of the wrong kind are the defaults") {
  CHECK_FALSE(parse_run_spec("{").ok());
  CHECK_FALSE(parse_run_spec(R"({"folder":"/w"})").ok());
  CHECK_FALSE(parse_run_spec(R"({"command":[],"folder":"/w"})").ok());
  CHECK_FALSE(parse_run_spec(R"({"command":[7],"folder":"/w"})").ok());
  CHECK_FALSE(parse_run_spec(R"({"command":["a"]})").ok());
  const auto odd = parse_run_spec(
      R"({"command":["a"],"folder":"/w","restarts":"many","grace_ns":[],"rotate_bytes":-1,"breaker":7,"also":"x"})");
  REQUIRE(odd.ok());
  CHECK(odd->limits.restarts == RestartLimits().restarts);
  CHECK(odd->grace == RunSpec().grace);
  CHECK(odd->rotate_bytes == RunSpec().rotate_bytes);
  CHECK(odd->breaker);
  CHECK(odd->also.empty());
}

}  // namespace mw
