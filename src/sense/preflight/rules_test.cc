// The catalogue: every rule reports what it says that it reports and is silent where it says so; docs/preflight.md.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/numbers.h"
#include "core/preflight/rule.h"
#include "sense/preflight/testing/world.h"

using namespace mw;
using namespace mw::preflight;

namespace {

/// "a.b=1 env:X=2 package:y=3 launch:processes=4" as facts.
Facts facts_of(const Framework* framework, std::string_view text) {
  Facts facts;
  facts.framework = framework;
  for (const std::string_view word : split(text, ' ')) {
    const size_t is = word.find('=');
    if (is == word.npos) continue;
    const std::string key(word.substr(0, is)), value(word.substr(is + 1));
    if (key.starts_with("env:")) {
      facts.host.environment[key.substr(4)] = value;
    } else if (key.starts_with("package:")) {
      facts.host.packages[key.substr(8)] = value;
    } else if (key == "launch:processes") {
      facts.processes = parse_double(value);
    } else {
      facts.settings.put(read_scalar(key, value, {"a.toml", 1}));
    }
  }
  return facts;
}

void prove(const Framework* framework, const Rule& rule) {
  CAPTURE(rule.id);
  for (const std::string& text : rule.reported) {
    CAPTURE(text);
    const auto finding = judge_rule(facts_of(framework, text), rule);
    REQUIRE(finding.has_value());
    CHECK(finding->what.find('{') == std::string::npos);
    CHECK(finding->fix.find('{') == std::string::npos);
    CHECK(!finding->key.empty());
  }
  for (const std::string& text : rule.silent) {
    CAPTURE(text);
    CHECK(!judge_rule(facts_of(framework, text), rule).has_value());
  }
}

/// A rule of all frameworks may use what only frameworks give a meaning to.
Framework with_meanings_of_samples() {
  Framework framework;
  framework.id = "any";
  return framework;
}

}  // namespace

TEST_CASE("every rule of the catalogue reports its bad samples and is silent on its good ones") {
  const Framework any = with_meanings_of_samples();
  for (const Rule& rule : built_in().catalogue.rules) prove(&any, rule);
  for (const Framework& framework : built_in().catalogue.frameworks) {
    for (const Rule& rule : framework.rules) prove(&framework, rule);
  }
}

TEST_CASE("names of lints and rules are unique, and every lint says why and by what source") {
  std::set<std::string> names;
  for (const Lint* lint : all_lints()) {
    CHECK(names.insert(std::string(lint->name)).second);
    CHECK(!lint->why.empty());
    CHECK(!lint->source.empty());
  }
  for (const Framework& framework : built_in().catalogue.frameworks) {
    for (const Rule& rule : framework.rules) CHECK_MESSAGE(names.insert(rule.id).second, rule.id);
    CHECK(!framework.versions.empty());
    for (const auto& one : framework.meanings) {
      const std::string& name = one.first;
      const Meaning& meaning = one.second;
      for (const std::string& key : meaning.keys) {  // what lints read are keys that the framework has
        bool known = false;
        for (const FrameworkVersion& version : framework.versions) {
          known = known || version.keys.count(key.substr(0, key.find('_')) + "_*") > 0;
          const std::string below = key + ".";
          const auto at = version.keys.lower_bound(below);
          known = known || version.keys.count(key) > 0 || version.keys.count(key + ".**") > 0 ||
                  (at != version.keys.end() && at->starts_with(below));
          for (size_t dot = key.rfind('.'); dot != key.npos; dot = dot == 0 ? key.npos : key.rfind('.', dot - 1)) {
            known = known || version.keys.count(key.substr(0, dot) + ".**") > 0;
          }
        }
        CHECK_MESSAGE(known, framework.id << ": " << name << " = " << key);
      }
    }
  }
}

TEST_CASE("all eight frameworks are recognised by their command lines") {
  const auto id = [](const std::vector<std::string>& command) {
    World world;
    (void)world.look(command);
    return world.facts.framework == nullptr ? std::string() : world.facts.framework->id;
  };
  CHECK(id({"uv", "run", "rl", "@", "x.toml"}) == "prime-rl");
  CHECK(id({"python3", "-m", "verl.trainer.main_ppo", "data.train_batch_size=64"}) == "verl");
  CHECK(id({"ray", "job", "submit", "--address=http://127.0.0.1:8265", "--", "python3", "-m",
            "openrlhf.cli.train_ppo_ray"}) == "openrlhf");
  CHECK(id({"uv", "run", "--isolated", "-m", "skyrl_train.entrypoints.main_base", "trainer.epochs=1"}) == "skyrl");
  CHECK(id({"trl", "grpo", "--num_generations", "8"}) == "trl");
  CHECK(id({"accelerate", "launch", "train.py", "--num_generations", "8", "--max_completion_length", "512"}) == "trl");
  CHECK(id({"python3", "train.py", "--rollout-batch-size", "32", "--hf-checkpoint", "/m"}) == "slime");
  CHECK(id({"uv", "run", "examples/run_grpo.py", "cluster.gpus_per_node=8"}) == "nemo-rl");
  CHECK(id({"python3", "-m", "areal.launcher.local", "a.py", "gconfig.n_samples=4"}) == "areal");
  CHECK(id({"python3", "train.py", "--lr", "1"}) == "");
}

TEST_CASE("models by their names") {
  const auto& rows = built_in().models;
  CHECK(model_by_name(rows, "Qwen/Qwen2.5-7B-Instruct")->layers == 28);
  CHECK(model_by_name(rows, "org/My-13B-Chat")->parameters == doctest::Approx(13e9));
  CHECK(model_by_name(rows, "org/tiny_350m")->parameters == doctest::Approx(0.35e9));
  CHECK(model_by_name(rows, "org/Some-VL-2B")->vision);
  CHECK(!model_by_name(rows, "org/Marvel-2B")->vision);
  CHECK(!model_by_name(rows, "/models/checkpoint").has_value());
  CHECK(model_by_name(rows, "mistralai/Mistral-Small-3.2-24B-Instruct-2506")->trouble.empty());
}

TEST_CASE("a config.json says what the name does not") {
  const auto read =
      model_by_config(R"({"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "vocab_size": 152064,
    "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "max_position_embeddings": 32768})",
                      {});
  REQUIRE(read.ok());
  CHECK(read->parameters == doctest::Approx(7.6e9).epsilon(0.02));
  CHECK(read->head_size == 128);
  CHECK(model_by_config(R"({"vision_config": {}, "text_config": {"hidden_size": 64}})", {})->vision);
  CHECK(!model_by_config("[]", {}).ok());
  CHECK(!model_by_config("{", {}).ok());
}

TEST_CASE("a framework's file with a mistake is refused with its line") {
  const auto error = [](std::string_view text) {
    const auto read = Framework::parse(text, "x.toml");
    return read.ok() ? std::string() : read.error().what;
  };
  CHECK(error("id = \"x\"\n") == "");
  CHECK(contains(error("id = \"x\"\nwords_ = [\"a\"]\n"), "x.toml"));
  CHECK(contains(error("id = \"x\"\n[[rule]]\nid = \"a\"\nwhen = [\"b\"]\n"), "wants id, what, why, fix and source"));
  CHECK(contains(error("id = \"x\"\n[[version]]\nid = \"1\"\nkeys = \"\"\"\nno colon\n\"\"\"\n"),
                 "is no \"TABLE: KEY KEY\""));
}

TEST_CASE("docs/preflight.md is what the tables say") {
  const std::string path = MW_SOURCE_DIR "/docs/preflight.md", page = preflight_page(built_in().catalogue);
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE((text.str() == page), path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_sense");
}
