#include "read/books/knowledge_base.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("what a signature says it is not is heeded") {
  const auto knowledge = KnowledgeBase::load({});
  REQUIRE(knowledge.ok());
  REQUIRE((*knowledge)->pattern_index().failures != nullptr);
}

}  // namespace
}  // namespace mw
