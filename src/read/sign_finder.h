// The dialects' signs in a piece of text.
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
  void text(std::string_view piece) { knowledge_.signs().scan_for_new(piece, *this, found_); }

  size_t hit(std::string_view, size_t, size_t, std::span<const uint32_t> ids) override {
    for (const uint32_t id : ids) {
      const DialectBook::Target& target = knowledge_.book().target(id);
      recogniser_.sign(target.dialect, target.index);
    }
    return 0;
  }

 private:
  const KnowledgeBase& knowledge_;
  Recogniser& recogniser_;
  std::vector<bool> found_;
};

}  // namespace mw
