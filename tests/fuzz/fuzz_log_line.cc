// LineReader and strip_ansi on any bytes: the views stay inside the line, the limits hold.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "read/lines/log_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mw::LineReader reader;
  std::string clean;
  MW_CHECK(mw::strip_ansi(text, clean).size() <= text.size());
  uint64_t number = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = text.find('\n', at) == std::string_view::npos ? text.size() : text.find('\n', at);
    const mw::LogLine& line = reader.read(text.substr(at, end - at), ++number);
    MW_CHECK(line.whole.size() <= end - at);
    MW_CHECK(line.text.size() <= line.whole.size());
    MW_CHECK(line.whole.find('\r') == std::string_view::npos);
    MW_CHECK(line.whole.find('\x1b') == std::string_view::npos);
    MW_CHECK(line.repeated >= 1);
    MW_CHECK(line.clock_ms < 86401 * 1000);
    if (!line.text.empty()) MW_CHECK(line.whole.find(line.text) != std::string_view::npos);
    at = end + 1;
  }
  return 0;
}
