// The doors of the simulated world that are no files: when to wake, and who holds what.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "platform/fake/fake_locks.h"
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

using SimLocks = FakeLocks;

}  // namespace mw::sim
