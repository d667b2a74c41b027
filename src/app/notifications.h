// The notifier of a watch with all it needs, made from midwatch.toml.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "act/notify/notices.h"
#include "act/notify/notifier.h"
#include "act/supervise/run_files.h"
#include "api/requests.h"
#include "app/config/config.h"
#include "base/result.h"
#include "platform/doors.h"

namespace mw {

class Notifications {
 public:
  /// `config`: path of the file of settings, "" for none. With nobody to notify, task() is nullptr. Errors: the file
  /// is wrong, a secret is not where it is said to be.
  static Result<std::unique_ptr<Notifications>> make(const Doors& doors, const std::string& config,
                                                     std::function<void(const std::string&)> say);

  /// Of a watch that only watches: its folder is known once it is open.
  void watches(const std::string& run_folder);
  /// Of a supervised run: also reports how its attempts end.
  void supervises(const std::string& run_folder, const RunSpec& spec);

  Notifier* task() { return notifier_.get(); }

 private:
  Notifications() = default;
  std::unique_ptr<Http> http_;
  std::unique_ptr<Notifier> notifier_;
};

/// Sends a test message to every channel, or to the one called `only`, and waits for what comes of it.
Result<std::vector<NotifyResult>> test_channels(Disk& disk, Clock& clock, const Config& config,
                                                const std::string& only);

}  // namespace mw
