#include "read/books/engine_book.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "read/books/embedded.h"
#include "read/books/knowledge_base.h"

namespace mw {
namespace {

TEST_CASE("every engine of knowledge/ is read, has a file of its own, and names signatures that there are") {
  const auto loaded = KnowledgeBase::load({}, nullptr);
  REQUIRE(loaded.ok());
  const auto& engines = built_in_engines();
  CHECK(engines.size() == embedded_files("engines/").size());
  CHECK(engines.size() >= 7);
  for (const Engine& engine : engines) {
    INFO(engine.name);
    CHECK(std::count_if(engines.begin(), engines.end(), [&](const Engine& one) { return one.name == engine.name; }) ==
          1);
    CHECK_FALSE((engine.titles.empty() && engine.programs.empty()));
    for (const Engine::Worker& worker : engine.workers) {
      CHECK((*loaded)->knowledge().find(worker.signature) != nullptr);
      CHECK(worker.title.size() <= 15);
    }
    for (const std::string& sign : engine.idle) {
      CHECK(std::none_of(sign.begin(), sign.end(), [](unsigned char c) { return c >= 'A' && c <= 'Z'; }));
    }
  }
  CHECK((*loaded)->knowledge().engines.size() == engines.size());
}

TEST_CASE("a file that is wrong is refused, with path and line") {
  const std::string good = "name = \"x\"\ntitles = [\"X::\"]\n[metrics]\nrunning = [\"x:running\"]\n";
  const auto engine = parse_engine(good, "x.toml");
  REQUIRE(engine.ok());
  CHECK(engine->running.front() == "x:running");
  for (const std::string& bad : {std::string("titles = [\"X\"]"), good + "[[worker]]\ntitle = \"X\"\n",
                                 "tittles = [\"X\"]\n" + good, std::string("name = \"x\"\nidle = [\"\"]\n"),
                                 std::string("name = \"x\"\n[metrics]\nruning = [\"x\"]\n"), std::string("name = [")}) {
    INFO(bad);
    const auto wrong = parse_engine(bad, "x.toml");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().what.find("x.toml") != std::string::npos);
  }
}

}  // namespace
}  // namespace mw
