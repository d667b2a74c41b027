#include "act/vault/crew.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace mw::vault {

Crew::Crew(int threads) {
  for (int i = 0; threads > 1 && i < threads; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // fewer do it, too; with none the caller works itself
      break;
    }
  }
}

Crew::~Crew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    next_.reset();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::failed(const Error& error) {
  if (!error_) error_ = error;
  next_.reset();
}

bool Crew::give(Job job) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (threads_.empty()) {
    if (error_) return false;
    if (const auto done = job(); !done.ok()) failed(done.error());
    return !error_;
  }
  changed_.wait(lock, [this] { return !next_ || error_; });
  if (error_) return false;
  next_ = std::move(job);
  changed_.notify_all();
  return true;
}

Result<void> Crew::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return busy_ == 0 && !next_; });
  if (error_) return *error_;
  return {};
}

void Crew::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || next_; });
    if (!next_) return;
    Job job = std::move(*next_);
    next_.reset();
    ++busy_;
    lock.unlock();
    changed_.notify_all();
    const auto done = job();
    job = nullptr;  // what it holds goes before the next one is taken
    lock.lock();
    --busy_;
    if (!done.ok()) failed(done.error());
    changed_.notify_all();
  }
}

void Pacer::take(int64_t bytes) {
  if (rate_ <= 0) return;
  Duration wait;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Duration now = doors_.clock.steady();
    free_at_ = std::max(free_at_, now);
    wait.ns = free_at_.ns - now.ns;
    free_at_.ns += Duration::seconds(static_cast<double>(bytes) / static_cast<double>(rate_)).ns;
  }
  if (wait.ns > 0) doors_.sleep(wait);
}

void Meter::add(int64_t bytes, bool moved) {
  const std::lock_guard<std::mutex> lock(mutex_);
  now_.bytes += bytes;
  if (moved) now_.moved += bytes;
  if (doors_.progress) doors_.progress(now_);
}

Progress Meter::now() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return now_;
}

}  // namespace mw::vault
