// links: read
// MetricLine on any text: bounded readings, sane names, and what is read does not depend on what was read before.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "read/lines/metric_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mw::MetricLine fresh;
  mw::MetricLine used;
  used.read("{'a': 1, 'b': {'c': 2}}");
  const auto form = fresh.read(text);
  MW_CHECK(used.read(text) == form);
  MW_CHECK(fresh.numbers().size() == used.numbers().size());
  MW_CHECK(fresh.numbers().size() <= mw::MetricLine::kReadingLimit + 1);
  for (size_t i = 0; i < fresh.numbers().size(); ++i) {
    MW_CHECK(fresh.numbers()[i].key == used.numbers()[i].key);
    MW_CHECK(fresh.numbers()[i].key.size() <= 10 * mw::MetricLine::kKeyLimit);
  }
  used.clear();
  used.read_cells(text);
  used.clear();
  used.read_words(text);
  double value = 0;
  mw::metric_number(text, &value);
  mw::metric_duration(text, &value);
  mw::is_table_frame(text);
  return 0;
}
