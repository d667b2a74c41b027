#include "read/books/compiled.h"

#include <cstddef>
#include <vector>

#include "read/books/archive.h"
#include "read/books/dialect_book.h"
#include "read/books/engine_book.h"
#include "read/books/signature_book.h"
#include "read/match/flat.h"

// Defined in build/generated/compiled_knowledge.S, which only the program itself is linked with.
extern "C" {
[[gnu::weak]] extern const char mw_compiled_begin[];
[[gnu::weak]] extern const char mw_compiled_end[];
}

namespace mw {

std::optional<CompiledKnowledge> compiled_knowledge() {
  const char* begin = mw_compiled_begin;
  if (begin == nullptr) return std::nullopt;
  return parse_compiled({begin, static_cast<size_t>(mw_compiled_end - begin)});
}

CompiledKnowledge parse_compiled(std::string_view bytes) {
  FlatReader in(bytes);
  CompiledKnowledge compiled;
  for (std::string_view* part :
       {&compiled.patterns, &compiled.signs, &compiled.dialects, &compiled.signatures, &compiled.engines}) {
    *part = in.text();
  }
  return compiled;
}

Result<std::string> compile_knowledge() {
  auto book = DialectBook::built_in();
  if (!book.ok()) return book.error();
  const auto signatures = SignatureBook::load({});
  if (!signatures.ok()) return signatures.error();
  std::vector<Pattern> patterns = book->patterns(0);
  for (Pattern& pattern : signatures->patterns(static_cast<uint32_t>(book->pattern_count()))) {
    patterns.push_back(std::move(pattern));
  }
  const auto flat = PatternSet::write(patterns), signs = PatternSet::write(book->sign_patterns());
  if (!flat.ok()) return flat.error();
  if (!signs.ok()) return signs.error();
  ArchiveWriter dialects, failures, engines;
  book->write(dialects);
  signatures->write(failures);
  write_engines(built_in_engines(), engines);
  FlatWriter out;
  out.text(*flat);
  out.text(*signs);
  for (ArchiveWriter* part : {&dialects, &failures, &engines}) out.text(part->take());
  return out.take();
}

}  // namespace mw
