#include "read/books/knowledge_base.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("what a signature says it is not is heeded") {
  const auto language = KnowledgeBase::load({});
  REQUIRE(language.ok());
  REQUIRE((*language)->speech().failures != nullptr);
}

}  // namespace
}  // namespace mw
