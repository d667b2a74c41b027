#include "platform/send_limit.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace mw {
namespace {

constexpr int64_t kPiecesASecond = 20;
constexpr int64_t kLeastPiece = 1024;

}  // namespace

size_t SendLimit::piece(size_t wanted, int64_t rate) {
  return std::min(wanted, static_cast<size_t>(std::max(kLeastPiece, rate / kPiecesASecond)));
}

Duration SendLimit::book(Duration now, size_t bytes, int64_t rate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  booked_until_ = std::max(booked_until_, Duration{now.ns - kBurst.ns});
  booked_until_.ns += Duration::seconds(static_cast<double>(bytes) / static_cast<double>(rate)).ns;
  return booked_until_;
}

void wait_to_send(size_t bytes, int64_t rate) {
  static SendLimit limit;
  if (rate <= 0 || bytes == 0) return;
  const auto now = std::chrono::steady_clock::now();
  const Duration steady{std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count()};
  const int64_t wait = limit.book(steady, bytes, rate).ns - steady.ns;
  if (wait > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(wait));
}

}  // namespace mw
