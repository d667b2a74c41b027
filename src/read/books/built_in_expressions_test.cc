// The built-in knowledge is read without compiling its expressions; here each of them is compiled.
#include <doctest/doctest.h>

#include "base/text.h"
#include "read/books/dialect_book.h"
#include "read/books/embedded.h"
#include "read/books/knowledge_base.h"
#include "read/books/signature_book.h"

namespace mw {
namespace {

TEST_CASE(
    "every expression of the built-in dialects and rules compiles, and its captures have the names that are expected") {
  DialectBook compiled;  // as a user's files are read
  for (const EmbeddedFile& file : embedded_files("dialects/")) {
    const auto added = compiled.add(file.bytes, file.path);
    CHECK_MESSAGE(added.ok(), (added.ok() ? "" : added.error().what));
  }
  for (const EmbeddedFile& file : embedded_files("rules/")) {
    const auto added = compiled.add_rules(file.bytes, file.path);
    CHECK_MESSAGE(added.ok(), (added.ok() ? "" : added.error().what));
  }
  const auto later = DialectBook::built_in();
  REQUIRE(later.ok());
  REQUIRE(later->dialects().size() == compiled.dialects().size());
  size_t expressions = 0;
  for (size_t d = 0; d < compiled.dialects().size(); ++d) {
    for (size_t i = 0; i < compiled.dialects()[d].shapes.size(); ++i) {
      const Regex* regex = compiled.shape_regex(d, i);
      if (regex == nullptr) continue;
      CAPTURE(compiled.dialects()[d].shapes[i].regex);
      CHECK(later->shape_regex(d, i)->names() == regex->names());
      ++expressions;
    }
  }
  CHECK(expressions > 100);
}

TEST_CASE("every expression of the built-in signatures compiles") {
  std::vector<SignatureBook::File> files;  // as a user's files are read
  for (const EmbeddedFile& file : embedded_files("signatures/")) {
    files.push_back({std::string(file.path), std::string(file.bytes)});
  }
  REQUIRE(files.size() > 10);
  const auto book = SignatureBook::load(files);
  CHECK_MESSAGE(book.ok(), (book.ok() ? "" : book.error().what));
}

TEST_CASE("no built-in expression runs on every line: each has a literal without which it cannot match") {
  const auto base = KnowledgeBase::load(
      {}, [](std::string_view, std::string_view) { return Result<std::vector<UserRule>>(std::vector<UserRule>()); });
  REQUIRE(base.ok());
  for (const std::string& slow : (*base)->patterns().slow_patterns()) FAIL_CHECK(slow);
}

TEST_CASE("an expression that is compiled later has the captures that it has when it is compiled at once") {
  for (const std::string_view expression :
       {R"((?P<a>\d+) (x|y)(?:z|\((q)))", R"([(](?P<b>[^]()]+)\()", "none", R"([]()](r)([^(]))", R"(^a(?P<rest>.*))"}) {
    CAPTURE(std::string(expression));
    const auto at_once = Regex::compile(expression);
    REQUIRE(at_once.ok());
    const Regex later = Regex::compile_later(expression);
    CHECK(later.names() == at_once->names());
    std::vector<std::string_view> one, other;
    size_t one_end = 0, other_end = 0;
    for (const std::string_view text : {"12 x(q", "(value(", "none", "(rx", "abc", ""}) {
      CHECK(later.match(text, one, &one_end) == at_once->match(text, other, &other_end));
      CHECK(one == other);
      CHECK(one_end == other_end);
    }
  }
}

TEST_CASE("what is no expression matches nothing when it is compiled later") {
  std::vector<std::string_view> captures;
  size_t end = 0;
  CHECK_FALSE(Regex::compile_later("a(b").match("a(b", captures, &end));
}

}  // namespace
}  // namespace mw
