// links: read
// Any bytes as a rule file, refused with a place or a set that judges; and any bytes as an answer for the built-in
// sets.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "read/books/dialect_book.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto built_in = mw::built_in_format_rules();
  MW_CHECK(built_in.ok());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<mw::event::FormatJudged> judged;
  for (const mw::FormatRuleSet& set : *built_in) {
    for (const auto place : {mw::AnswerPlace::kAny, mw::AnswerPlace::kLast, mw::AnswerPlace::kNotLast}) {
      judged.clear();
      set.judge(text, place, judged);
      for (const auto& one : judged) MW_CHECK(one.passed + one.failed == 1);
    }
  }
  const auto set = mw::parse_format_rules(text, "fuzz.toml");
  if (!set.ok()) {
    MW_CHECK(!set.error().what.empty());
    return 0;
  }
  judged.clear();
  set->judge(text, mw::AnswerPlace::kLast, judged);
  mw::DialectBook book;
  const auto added = book.add_rules(text, "fuzz.toml");
  MW_CHECK(!added.ok() || book.rule_sets().size() == 1);
  return 0;
}
