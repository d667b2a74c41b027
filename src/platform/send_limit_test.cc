#include "platform/send_limit.h"

#include <doctest/doctest.h>

#include <deque>
#include <utility>

namespace mw {
namespace {

TEST_CASE("no window of time sees more than the rate and a short burst, whatever rests come between") {
  constexpr int64_t kRate = 1'000'000;
  SendLimit limit;
  Duration now = Duration::seconds(1000);
  std::deque<std::pair<Duration, size_t>> sent;  // of the last two seconds
  size_t window = 0, worst = 0, all = 0;
  for (int i = 0; i < 2000; ++i) {
    if (i % 400 == 399) now.ns += Duration::seconds(5).ns;  // the receiver took nothing
    const size_t bytes = SendLimit::piece(8U << 20, kRate);
    now = std::max(now, limit.book(now, bytes, kRate));
    sent.emplace_back(now, bytes);
    window += bytes;
    all += bytes;
    while (sent.front().first.ns <= now.ns - Duration::seconds(2).ns) {
      window -= sent.front().second;
      sent.pop_front();
    }
    worst = std::max(worst, window);
  }
  CHECK(worst <= 2'200'000);
  CHECK(static_cast<double>(all) / (now.seconds() - 1000 - 25) > 0.98 * kRate);
}

TEST_CASE("a piece is small beside the rate, and never so small that it costs more than it saves") {
  CHECK(SendLimit::piece(8U << 20, 2'000'000) == 100'000);
  CHECK(SendLimit::piece(500, 2'000'000) == 500);
  CHECK(SendLimit::piece(8U << 20, 100) == 1024);
}

}  // namespace
}  // namespace mw
