// links: read
// Any bytes as a dialect file: refused with a place, or a dialect that can be asked.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "read/books/dialect_book.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mw::DialectBook book;
  const auto added = book.add(text, "fuzz.toml");
  if (!added.ok()) {
    MW_CHECK(!added.error().what.empty());
    return 0;
  }
  MW_CHECK(book.dialects().size() == 1);
  MW_CHECK(book.patterns(7).size() == book.pattern_count());
  for (const mw::MetricRule& rule : book.dialects()[0].metrics) book.meaning(0, rule.raw);
  book.meaning(0, "reward/mean");
  book.meaning(std::nullopt, "reward/mean");
  return 0;
}
