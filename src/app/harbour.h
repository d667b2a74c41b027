// The doors to one object store, by its address.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "act/vault/doors.h"
#include "api/shipping.h"
#include "base/result.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/http.h"
#include "platform/object_store.h"
#include "platform/system.h"

namespace mw {

/// What reaches a store, and the run's prefix there. It owns its doors and outlives what they are given to.
struct Harbour {
  std::unique_ptr<Http> http = make_http(true);
  std::unique_ptr<Clock> clock = make_posix_clock();
  std::unique_ptr<System> system = make_posix_system();
  std::unique_ptr<ObjectStore> store;
  std::string prefix;

  vault::VaultDoors doors(Disk& disk, const StoreAddress& address) const;
};

/// kInvalid: the address is none. The store itself is not asked yet. `stopped`: as of make_folder_store().
Result<std::unique_ptr<Harbour>> open_harbour(Disk& disk, const StoreAddress& address,
                                              std::function<bool()> stopped = {});

/// Can files be shipped to `place`? Not to a folder that is a mounted file system of its own: files are finished beside
/// the run's folder, and renamed into it. What is not there yet, and what is no folder, is not looked at.
Result<void> must_take_files(Disk& disk, const std::string& place);

/// How much of the machine an address allows.
vault::Pace pace_of(const StoreAddress& address);

/// A variable of this process's environment.
std::optional<std::string> variable(std::string_view name);
/// 16 hexadecimal digits that nobody else has.
std::string random_word();
void sleep_for(Duration time);

}  // namespace mw
