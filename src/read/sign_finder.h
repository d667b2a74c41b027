// The dialects' signs in a piece of text, found by the process's one pattern set.
#pragma once

#include "read/books/knowledge_base.h"
#include "read/interpret/recogniser.h"
#include "read/match/pattern_set.h"

namespace mw {

/// Tells the recogniser which signs stand in a text, in one pass over it however many signs there are.
class SignFinder final : public HitListener {
 public:
  SignFinder(const KnowledgeBase& knowledge, Recogniser& recogniser) : knowledge_(knowledge), recogniser_(recogniser) {}

  /// Whole lines; the last may lack its end.
  void text(std::string_view piece) {
    knowledge_.patterns().scan(piece, *this, 0, knowledge_.pattern_index().signature_first);
  }

  size_t hit(std::string_view, size_t, size_t, std::span<const uint32_t> ids) override {
    const PatternIndex& index = knowledge_.pattern_index();
    for (const uint32_t id : ids) {
      if (id < index.dialect_first || id - index.dialect_first >= index.book->pattern_count()) continue;
      const DialectBook::Target& target = index.book->target(id - index.dialect_first);
      if (target.kind == DialectBook::Target::Kind::kSign) recogniser_.sign(target.dialect, target.index);
    }
    return 0;
  }

 private:
  const KnowledgeBase& knowledge_;
  Recogniser& recogniser_;
};

}  // namespace mw
