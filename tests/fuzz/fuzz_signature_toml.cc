// Any bytes as a signature file: refused with a place, or read into a book that can be used.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/toml.h"
#include "read/books/signature_book.h"

namespace {

void walk(const mw::Toml& value, size_t depth) {
  MW_CHECK(depth <= 300);
  for (const auto& [key, member] : value.members()) {
    MW_CHECK(value.find(key) == &member);
    walk(member, depth + 1);
  }
  for (const mw::Toml& item : value.items()) walk(item, depth + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = mw::Toml::parse(text, "fuzz.toml");
  if (parsed.ok()) {
    walk(*parsed, 0);
  } else {
    MW_CHECK(parsed.error().what.rfind("fuzz.toml", 0) == 0);
    return 0;
  }
  // The built-in files are parsed each time, too: keep it to documents that have a chance of being signatures.
  if (parsed->find("signature") == nullptr && parsed->find("cause") == nullptr) return 0;
  const std::vector<mw::SignatureBook::File> files{{"fuzz.toml", std::string(text)}};
  const auto book = mw::SignatureBook::load(files);
  if (book.ok()) {
    MW_CHECK(book->patterns(0).size() == book->pattern_count());
  } else {
    MW_CHECK(!book.error().what.empty());
  }
  return 0;
}
