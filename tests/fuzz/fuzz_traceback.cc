// TracebackReader on any lines: texts stay bounded, nothing stays open for ever.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "read/lines/traceback.h"

namespace {

void check(const mw::event::TraceSeen& trace, uint64_t number) {
  MW_CHECK(trace.message.size() <= 2 * mw::kTextLimit);
  MW_CHECK(trace.exception.size() <= 400);
  MW_CHECK(trace.frame.size() <= 1000);
  MW_CHECK(trace.last_line <= number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mw::TracebackReader reader;
  uint64_t number = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = text.find('\n', at) == std::string_view::npos ? text.size() : text.find('\n', at);
    if (reader.feed(text.substr(at, end - at), ++number) == mw::TracebackReader::Took::kDone)
      check(reader.take(), number);
    at = end + 1;
  }
  if (const auto last = reader.flush()) check(*last, number);
  MW_CHECK(!reader.open());
  for (uint64_t i = 0; i < mw::TracebackReader::kLinesLimit + 2; ++i) reader.feed("x", ++number);
  MW_CHECK(!reader.open());
  return 0;
}
