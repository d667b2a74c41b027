// The doors of the simulated world that are no files: when to wake, and who holds what.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "platform/lock.h"
#include "platform/watch.h"

namespace mw::sim {

/// While the loop waits, the simulated world goes on.
class SimWatch final : public Watch {
 public:
  /// `live` lets at most so much time pass and returns what the kernel reports of it.
  explicit SimWatch(std::function<Woke(Duration)> live) : live_(std::move(live)) {}
  void add(const std::string& path) override { watched_.insert(path); }
  Woke wait(Duration longest) override { return live_(longest); }
  const std::set<std::string>& watched() const { return watched_; }

 private:
  std::function<Woke(Duration)> live_;
  std::set<std::string> watched_;
};

/// Locks of one machine; the simulation is one thread, so whoever asks twice has not let go.
class SimLocks final : public Locks {
 public:
  Result<std::unique_ptr<Lock>> take(const std::string& path) override {
    if (!held_.insert(path).second) return Error{Error::Code::kDenied, path + " is held", ""};
    return std::unique_ptr<Lock>(std::make_unique<Held>(held_, path));
  }

 private:
  class Held final : public Lock {
   public:
    Held(std::set<std::string>& held, std::string path) : held_(held), path_(std::move(path)) {}
    ~Held() override { held_.erase(path_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    std::set<std::string>& held_;
    std::string path_;
  };
  std::set<std::string> held_;
};

}  // namespace mw::sim
