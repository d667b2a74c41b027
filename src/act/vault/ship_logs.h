// The journal and the logs of a run go into its store as well, so that what happened on a lost machine is known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "act/vault/doors.h"

namespace mw::vault {

/// Files that grow at their end are shipped in pieces of this size; only the last one is sent more than once.
constexpr int64_t kLogPiece = int64_t{1} << 20;

class LogShipper {
 public:
  /// `prefix`: of the run in the store, without slashes at its ends; `folder`: the run's, in which all files below
  /// `below` are shipped; `name`: the run's.
  LogShipper(std::string prefix, std::string folder, std::string name, std::vector<std::string> below)
      : prefix_(std::move(prefix)), folder_(std::move(folder)), name_(std::move(name)), below_(std::move(below)) {}
  /// Sends what is new; the bytes that went over the wire. After an error, what is not sent yet is the next call's.
  Result<int64_t> ship(const VaultDoors& doors);

 private:
  struct Known {
    uint64_t device = 0, inode = 0;
    int64_t size = 0;   ///< that is shipped
    size_t pieces = 0;  ///< that the store has, at most
  };
  Result<int64_t> ship_file(const VaultDoors& doors, const std::string& path);
  Result<void> learn(const VaultDoors& doors);
  std::string key(const std::string& path, size_t piece) const;

  std::string prefix_, folder_, name_;
  std::vector<std::string> below_;
  std::map<std::string, Known> known_;        // by path below the folder
  std::map<std::string, std::string> etags_;  // of the pieces that an earlier process sent, by key
  bool learnt_ = false;
};

/// One run's files, put together again below `folder`/NAME.
struct ReceivedLogs {
  std::string name;
  int64_t files = 0, bytes = 0;
};
/// Receives the journals and logs of all runs of a prefix; of each those files whose path begins with `only`. What lies
/// in `folder` under the same name is an error (kInvalid): nothing is written over. kNotFound: there are none.
Result<std::vector<ReceivedLogs>> receive_logs(const VaultDoors& doors, const std::string& prefix,
                                               const std::string& folder, std::string_view only = "");

}  // namespace mw::vault
