#include "base/toml.h"

#include <doctest/doctest.h>

#include "read/books/embedded.h"

using mw::Toml;

TEST_CASE("a TOML document becomes a tree with lines") {
  const auto parsed = Toml::parse(
      "a = 1\nb = 2.5\nc = 'x\\d'\nd = [true, \"y\"]\n[[row]]\nid = \"r\"\n[[row]]\nid = \"s\"\n", "t.toml");
  REQUIRE(parsed.ok());
  const Toml& root = *parsed;
  CHECK(root.is_table());
  CHECK(root.find("a")->integer() == 1);
  CHECK(root.find("a")->number() == 1.0);
  CHECK(root.number_or("b", 0) == 2.5);
  CHECK(root.text_or("c", "") == "x\\d");
  CHECK(root.text_or("a", "none") == "none");
  CHECK(root.find("d")->items()[0].boolean());
  CHECK(root.find("zz") == nullptr);
  REQUIRE(root.find("row")->items().size() == 2);
  CHECK(root.find("row")->items()[1].text_or("id", "") == "s");
  CHECK(root.find("row")->items()[1].find("id")->line() == 8);
}

TEST_CASE("strings and arrays of strings both read as strings") {
  const auto parsed = Toml::parse("a = \"x\"\nb = [\"x\", \"y\"]\nc = [\"x\", 3]\nd = 4\n", "t.toml");
  REQUIRE(parsed.ok());
  CHECK(*parsed->find("a")->texts("t.toml") == std::vector<std::string>{"x"});
  CHECK(parsed->find("b")->texts("t.toml")->size() == 2);
  CHECK(parsed->find("c")->texts("t.toml").error().what == "t.toml:3: a string is expected here, not an integer");
  CHECK(parsed->find("d")->texts("t.toml").error().what == "t.toml:4: strings are expected here, not an integer");
}

TEST_CASE("a broken document is an error with file and line") {
  const auto broken = Toml::parse("a = 1\nb = [\n", "dir/x.toml");
  REQUIRE(!broken.ok());
  CHECK(broken.error().what.rfind("dir/x.toml:", 0) == 0);
  const auto twice = Toml::parse("a = 1\na = 2\n", "x.toml");
  REQUIRE(!twice.ok());
  CHECK(twice.error().what.rfind("x.toml:2: ", 0) == 0);
  const auto date = Toml::parse("a = 1\n\nb = 2020-01-02\n", "x.toml");
  REQUIRE(!date.ok());
  CHECK(date.error().what.rfind("x.toml:3: ", 0) == 0);
  CHECK(!Toml::parse(std::string("a = \"\xff\xfe\""), "x.toml").ok());
  CHECK(!Toml::parse("a = " + std::string(100000, '['), "x.toml").ok());
  CHECK(!Toml::parse(std::string(mw::kTomlBytesLimit + 1, '\n'), "x.toml").ok());
}

TEST_CASE("a key nobody knows is an error with its line") {
  const auto parsed = Toml::parse("id = 1\n\nidd = 2\n", "x.toml");
  REQUIRE(parsed.ok());
  CHECK(parsed->check_keys("x.toml", {"id", "idd"}).ok());
  CHECK(parsed->check_keys("x.toml", {"id"}).error().what == "x.toml:3: unknown key \"idd\"");
}

TEST_CASE("the knowledge files are in the program and parse") {
  const auto files = mw::embedded_files("");
  REQUIRE(!files.empty());
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0) CHECK(files[i - 1].path < files[i].path);
    const auto parsed = Toml::parse(files[i].bytes, files[i].path);
    if (!parsed.ok()) FAIL_CHECK(parsed.error().what);
  }
  CHECK(mw::embedded_files("no-such-folder/").empty());
  CHECK(mw::embedded_files("signatures/").size() <= files.size());
}
