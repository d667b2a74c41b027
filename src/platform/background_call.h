// One blocking call at a time, off the loop's thread: it is started, and asked for its answer later. A call that never
// comes back (a dead network mount, a driver that hangs) costs one thread and what the call owns, and nothing else.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace mw {

template <typename T>
class BackgroundCall {
 public:
  BackgroundCall() = default;
  BackgroundCall(BackgroundCall&&) noexcept = default;
  BackgroundCall& operator=(BackgroundCall&&) = delete;
  /// A call that is still out is left to itself; it takes away what it holds when it is back.
  ~BackgroundCall() {
    if (desk_ != nullptr && desk_->now.exchange(Desk::kLeft) == Desk::kOut) (void)desk_.release();
  }

  bool started() const { return desk_ != nullptr; }
  bool busy() const { return desk_ != nullptr && desk_->now.load() == Desk::kOut; }

  /// `work` is called on a thread of its own. It owns what it uses (doors by shared pointer, everything else by value),
  /// as it may outlive whoever started it. Not while a call is out.
  void start(std::function<T()> work) {
    desk_ = std::make_unique<Desk>();
    desk_->work = std::move(work);
    Desk* desk = desk_.get();
    try {
      std::thread([desk] {
        desk->answer = desk->work();
        if (desk->now.exchange(Desk::kBack) == Desk::kLeft) delete desk;
      }).detach();
    } catch (const std::system_error&) {  // no thread to be had: as if it had not been started
      desk_.reset();
    }
  }

  /// The answer, once; nothing while the call is out or when none was started.
  std::optional<T> take() {
    if (desk_ == nullptr || busy()) return std::nullopt;
    std::optional<T> answer = std::move(desk_->answer);
    desk_.reset();
    return answer;
  }

 private:
  struct Desk {
    std::function<T()> work;
    std::optional<T> answer;
    enum { kOut, kBack, kLeft };
    std::atomic<int> now{kOut};
  };
  std::unique_ptr<Desk> desk_;
};

}  // namespace mw
