// One blocking call at a time, off the loop's thread: it is started, and asked for its answer later. A call that never
// comes back (a dead network mount, a driver that hangs) costs one thread and nothing else.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace mw {

template <typename T>
class Aside {
 public:
  Aside() = default;
  Aside(Aside&&) = default;
  Aside& operator=(Aside&&) = delete;
  /// A call that is still out is left to itself, and what it holds with it.
  ~Aside() {
    if (busy()) (void)desk_.release();
  }

  bool started() const { return desk_ != nullptr; }
  bool busy() const { return desk_ != nullptr && !desk_->done.load(std::memory_order_acquire); }

  /// `work` is called on a thread of its own. It must own what it uses, or use what outlives the process's main loop.
  /// Not while a call is out.
  void start(std::function<T()> work) {
    desk_ = std::make_unique<Desk>();
    desk_->work = std::move(work);
    Desk* desk = desk_.get();
    std::thread([desk] {
      desk->answer = desk->work();
      desk->done.store(true, std::memory_order_release);
    }).detach();
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
    std::atomic<bool> done{false};
  };
  std::unique_ptr<Desk> desk_;
};

}  // namespace mw
