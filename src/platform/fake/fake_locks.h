// Locks without files.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "platform/lock.h"

namespace mw {

/// Locks of one machine; tests and simulations are one thread, so whoever asks twice has not let go.
class FakeLocks final : public Locks {
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

}  // namespace mw
