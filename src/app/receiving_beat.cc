#include "app/receiving_beat.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "app/fleet_machine.h"
#include "platform/clock.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr Duration kStandstill = Duration::seconds(60);  // of no byte, beyond which it counts as none coming
constexpr std::chrono::seconds kLastOne{5};              // that a heartbeat under way is waited for

}  // namespace

struct ReceivingBeat::Shared {
  fleet::MachineIdentity identity;
  EarlyEnd::Send send;
  std::unique_ptr<Clock> clock = make_posix_clock();
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false, sending = false;
  std::optional<Duration> last;  // when bytes came
  int64_t received = 0, total = 0;
  Duration receiving;

  /// Under the mutex.
  void count(int64_t bytes, int64_t all) {
    const Duration now = clock->steady();
    if (bytes <= received && last) return;
    if (last) receiving.ns += std::min(now.ns - last->ns, kStandstill.ns);
    last = now;
    received = bytes;
    total = all;
  }

  fleet::Heartbeat beat() const {
    fleet::Heartbeat out = about_machine(identity);
    out.phase = fleet::Heartbeat::Phase::kReceiving;
    out.received = received;
    out.total = total;
    out.receiving = receiving;
    return out;
  }

  /// The first one once bytes come: until then the machine is starting like any other.
  void send_until_over() {
    const auto disk = make_posix_disk();
    const auto every = std::chrono::nanoseconds(identity.every.ns);
    std::unique_lock<std::mutex> lock(mutex);
    while (!ended.wait_for(lock, every, [this] { return over; })) {
      if (!last) continue;
      const fleet::Heartbeat now = beat();
      sending = true;
      lock.unlock();
      (void)send(*disk, identity, now).ok();
      lock.lock();
      sending = false;
      ended.notify_all();
    }
  }
};

ReceivingBeat::ReceivingBeat(EarlyEnd::Send send) {
  const auto identity = own_identity();
  if (!identity.ok() || !*identity) return;
  auto shared = std::make_shared<Shared>();
  shared->identity = **identity;
  shared->send = std::move(send);
  try {
    // It owns what it uses: a store that does not answer holds nobody up at the end.
    std::thread([shared] { shared->send_until_over(); }).detach();
  } catch (const std::system_error&) {  // no thread to be had: as before, without heartbeats
    return;
  }
  shared_ = std::move(shared);
}

ReceivingBeat::~ReceivingBeat() {
  if (shared_ == nullptr) return;
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->over = true;
  shared_->ended.notify_all();
  // One that is under way would be written over what the machine says next.
  (void)shared_->ended.wait_for(lock, kLastOne, [this] { return !shared_->sending; });
}

void ReceivingBeat::moved(int64_t bytes, int64_t total) {
  if (shared_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->count(bytes, total);
}

Duration ReceivingBeat::receiving() const {
  if (shared_ == nullptr) return {};
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->receiving;
}

}  // namespace mw
