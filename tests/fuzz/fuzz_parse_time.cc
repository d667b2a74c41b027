// links: base
#include "base/time.h"
#include "fuzz.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"2026-02-19T09:08:11Z", "2026-02-19 09:08:11,123", "2026-02-19T09:08:11.5+01:30", "1970-01-01T00:00:00"};
}

void mw::fuzz_one(std::string_view input) {
  size_t used = 0;
  const auto time = parse_time(input, &used);
  if (!time) return;
  MW_CHECK(used <= input.size());
  const std::string text = format_utc(*time);
  if (time->ns <= 0) return;  // a zone can take the first hours of 1970 below zero, and zero means unknown
  const auto again = parse_time(text);
  MW_CHECK(again.has_value());
  MW_CHECK(again->ns / 1'000'000'000 == time->ns / 1'000'000'000);
}
