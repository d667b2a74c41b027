// The knowledge as the build compiles it is the knowledge that the text files hold.
#include "read/books/compiled.h"

#include <doctest/doctest.h>

#include "read/books/archive.h"
#include "read/books/engine_book.h"
#include "read/books/knowledge_base.h"

namespace mw {
namespace {

std::vector<uint32_t> hits_of(const KnowledgeBase& base, std::string_view line) {
  std::vector<uint32_t> hits;
  base.patterns().match_line(line, hits);
  return hits;
}

std::vector<uint32_t> signs_of(const KnowledgeBase& base, std::string_view line) {
  std::vector<uint32_t> hits;
  base.signs().match_line(line, hits);
  return hits;
}

std::vector<uint32_t> signs_among(const KnowledgeBase& base, std::vector<uint32_t> hits) {
  std::erase_if(hits, [&base](uint32_t id) {
    return id >= base.book().pattern_count() || base.book().target(id).kind != DialectBook::Target::Kind::kSign;
  });
  return hits;
}

/// All that the build keeps, as bytes; of a book that it compiled itself, the same bytes again.
std::string archived(const DialectBook& dialects, const SignatureBook& signatures) {
  ArchiveWriter out;
  dialects.write(out);
  signatures.write(out);
  return out.take();
}

}  // namespace

TEST_CASE("compiled knowledge is what its text says") {
  REQUIRE_FALSE(compiled_knowledge().has_value());  // this program is linked without, and load() reads the text
  const auto bytes = compile_knowledge();
  REQUIRE(bytes.ok());
  const CompiledKnowledge compiled = parse_compiled(*bytes);
  const auto read = KnowledgeBase::read(compiled), text = KnowledgeBase::load({});
  REQUIRE((read.ok() && text.ok()));

  const auto dialects = DialectBook::built_in();
  const auto signatures = SignatureBook::load({});
  REQUIRE((dialects.ok() && signatures.ok()));
  CHECK(archived((*read)->book(), *(*read)->pattern_index().failures) == archived(*dialects, *signatures));
  ArchiveWriter engines;
  write_engines((*read)->knowledge().engines, engines);
  CHECK(engines.take() == compiled.engines);
  CHECK((*read)->knowledge().by_id == signatures->knowledge().by_id);
  CHECK((*read)->book().rule_sets().size() == dialects->rule_sets().size());

  size_t lines = 0, hit = 0;
  const auto compare = [&](std::string_view line) {
    const std::vector<uint32_t> hits = hits_of(**read, line);
    CHECK(hits == hits_of(**text, line));
    for (const auto* base : {read->get(), text->get()}) CHECK(signs_of(*base, line) == signs_among(**read, hits));
    ++lines;
    hit += hits.empty() ? 0 : 1;
  };
  for (const Dialect& dialect : dialects->dialects()) {
    for (const Dialect::Sample& sample : dialect.samples) compare(sample.text);
  }
  for (size_t i = 0; i < signatures->knowledge().signatures.size(); ++i) {
    for (const std::string& line : signatures->examples(i).lines) compare(line);
    for (const std::string& line : signatures->examples(i).counter_lines) compare(line);
  }
  CHECK(lines > 500);
  CHECK(hit > lines / 2);
}

TEST_CASE("a signature that the build compiled is taken back by its `unless` as well") {
  const auto bytes = compile_knowledge();
  REQUIRE(bytes.ok());
  const auto read = KnowledgeBase::read(parse_compiled(*bytes)), text = KnowledgeBase::load({});
  REQUIRE((read.ok() && text.ok()));
  const auto resolved = [](const KnowledgeBase& base, const std::string& line) {
    const PatternIndex& index = base.pattern_index();
    std::vector<uint32_t> matched;
    for (const uint32_t id : hits_of(base, line)) {
      if (id >= index.signature_first) matched.push_back(id - index.signature_first);
    }
    std::vector<SignatureHit> hits;
    index.failures->resolve(line, matched, hits);
    std::vector<uint32_t> signatures;
    for (const SignatureHit& hit : hits) signatures.push_back(hit.signature * 2 + (hit.weak ? 1 : 0));
    return std::pair(matched.size(), signatures);
  };
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  size_t taken_back = 0;
  for (size_t i = 0; i < book->knowledge().signatures.size(); ++i) {
    for (const std::string& line : book->examples(i).counter_lines) {
      const auto found = resolved(**read, line);
      CHECK(found == resolved(**text, line));
      taken_back += found.first > 0 && found.second.empty() ? 1 : 0;
    }
  }
  CHECK(taken_back > 0);
}

}  // namespace mw
