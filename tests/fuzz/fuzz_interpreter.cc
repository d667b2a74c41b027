// links: read
// Any text as a log: what is said does not depend on the pieces in which it comes or on previews between them, and no
// event is larger than it may.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "read/books/signature_book.h"
#include "read/files/text_log.h"
#include "read/interpret/interpreter.h"

namespace {

struct KnowledgeBase {
  mw::DialectBook book;
  mw::SignatureBook signatures;
  std::vector<mw::SignaturePattern> patterns;
  mw::PatternSet set;
};

mw::Result<KnowledgeBase> load() {
  auto book = mw::DialectBook::built_in();
  if (!book.ok()) return book.error();
  auto signatures = mw::SignatureBook::load({});
  if (!signatures.ok()) return signatures.error();
  auto patterns = book->patterns(0);
  for (auto& pattern : signatures->patterns(static_cast<uint32_t>(book->pattern_count()))) patterns.push_back(pattern);
  auto set = mw::PatternSet::compile(std::move(patterns));
  if (!set.ok()) return set.error();
  std::vector<mw::SignaturePattern> targets;
  for (size_t i = 0; i < signatures->pattern_count(); ++i) {
    targets.push_back({signatures->target(i).signature, signatures->target(i).weak});
  }
  return KnowledgeBase{std::move(*book), std::move(*signatures), std::move(targets), std::move(*set)};
}

class Digest final : public mw::EventSink {
 public:
  void put(mw::Event&& event) override {
    text += mw::cat(event.where.line, ":", event.body.index(), ";");
    if (const auto* matched = std::get_if<mw::event::Matched>(&event.body)) {
      MW_CHECK(matched->text.size() <= mw::kTextLimit + 8);
      text += matched->signature;
    }
    if (const auto* trace = std::get_if<mw::event::TraceSeen>(&event.body)) {
      MW_CHECK(trace->message.size() <= mw::kTextLimit + 8);
    }
    if (const auto* measured = std::get_if<mw::event::Measured>(&event.body)) {
      text += mw::cat(measured->step, "/", measured->readings.size());
    }
  }
  std::string text;
};

/// Of `text` in pieces; `previews`: with what each piece would say if it were the last, which changes nothing.
std::string said(const KnowledgeBase& knowledge, std::string_view text, size_t piece, bool previews) {
  const mw::PatternIndex pattern_index{&knowledge.book,
                                       0,
                                       &knowledge.signatures.knowledge(),
                                       static_cast<uint32_t>(knowledge.book.pattern_count()),
                                       knowledge.patterns,
                                       &knowledge.signatures};
  mw::Recogniser recogniser(knowledge.book);
  mw::TemplateMiner miner;
  Digest digest;
  mw::Interpreter interpreter(pattern_index, recogniser, miner, digest, 0);
  mw::TextLog log(knowledge.set, interpreter, digest, 0);
  for (size_t at = 0; at < text.size(); at += piece) {
    log.feed(text.substr(at, piece));
    Digest unsaid;
    if (!previews) continue;
    interpreter.preview(unsaid);
    MW_CHECK(unsaid.text.empty() || interpreter.holds_trace());
  }
  log.finish();
  MW_CHECK(log.consumed() == text.size());
  digest.text += mw::cat("lines ", log.lines());
  return digest.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const mw::Result<KnowledgeBase> knowledge = load();
  MW_CHECK(knowledge.ok());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string whole = said(*knowledge, text, size + 1, false);
  MW_CHECK(said(*knowledge, text, 1 + size % 61, true) == whole);
  return 0;
}
