#include "app/early_end.h"

#include <pthread.h>
#include <signal.h>

#include <mutex>
#include <utility>

#include "app/fleet_machine.h"
#include "platform/clock.h"
#include "platform/real/posix_disk.h"
#include "platform/watch.h"

namespace mw {
namespace {

constexpr Duration kLastHeartbeat = Duration::seconds(4);  // of the 5 s that a machine has that is taken away

/// Heartbeats that are on their way, and whether any may still go.
struct Gate {
  std::mutex mutex;
  bool closed = false;
  int out = 0;

  bool enter() {
    const std::lock_guard<std::mutex> held(mutex);
    if (!closed) ++out;
    return !closed;
  }
  void leave() {
    const std::lock_guard<std::mutex> held(mutex);
    --out;
  }
  void close() {
    const std::lock_guard<std::mutex> held(mutex);
    closed = true;
  }
  bool any_out() {
    const std::lock_guard<std::mutex> held(mutex);
    return out > 0;
  }
};

void end_by(int signal) {
  (void)::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  (void)::raise(signal);
}

}  // namespace

class EarlyEnd::Listener final : public SignalListener {
 public:
  Listener(fleet::MachineIdentity identity, std::unique_ptr<Watch> watch, std::function<void(int)> end)
      : identity_(std::move(identity)), watch_(std::move(watch)), end_(std::move(end)) {
    watch_->listen(this);
  }
  ~Listener() override {
    watch_->listen(nullptr);
    // One that came while nobody listened.
    if (const int signal = watch_->stop_signal(); signal != 0 && !ended_) end(signal);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::optional<Duration> poll(const Poll& now) override {
    if (!ended_ && (now.signal == SIGTERM || now.signal == SIGINT)) end(now.signal);
    return std::nullopt;
  }
  const std::shared_ptr<Gate>& gate() const { return gate_; }

 private:
  void end(int signal) {
    ended_ = true;
    if (signal == SIGTERM) say_it();
    end_ ? end_(signal) : end_by(signal);
  }

  void say_it() {
    const auto clock = make_posix_clock();
    const Duration until{clock->steady().ns + kLastHeartbeat.ns};
    if (const auto note = note_of_taken_away()) note(SIGTERM);  // also where the store does not answer now
    gate_->close();
    fleet::Heartbeat beat = about_machine(identity_);
    beat.phase = fleet::Heartbeat::Phase::kPreempted;
    beat.reason = std::string(kGotSigterm);
    send_last(*clock, make_posix_disk(), identity_, beat, until, [this] { return gate_->any_out(); });
  }

  const fleet::MachineIdentity identity_;
  const std::unique_ptr<Watch> watch_;
  const std::function<void(int)> end_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  bool ended_ = false;
};

EarlyEnd::EarlyEnd(std::function<void(int signal)> end) {
  auto identity = own_identity();
  if (!identity.ok() || !*identity) return;
  auto watch = Watch::make();
  if (!watch.ok()) return;  // no thread to be had: as before, without a last heartbeat
  listener_ = std::make_unique<Listener>(std::move(**identity), std::move(*watch), std::move(end));
}

EarlyEnd::~EarlyEnd() = default;

EarlyEnd::Send EarlyEnd::send() const {
  if (listener_ == nullptr) return send_beat;
  return [gate = listener_->gate()](Disk& disk, const fleet::MachineIdentity& identity,
                                    const fleet::Heartbeat& beat) -> Result<fleet::Standing> {
    if (!gate->enter()) return Error{Error::Code::kInterrupted, "this machine is taken away", ""};
    auto standing = send_beat(disk, identity, beat);
    gate->leave();
    return standing;
  };
}

}  // namespace mw
