// The journal of an attached run: finds or makes its folder, gives back what was recorded before, keeps what comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/state.h"
#include "journal/journal.h"
#include "platform/disk.h"
#include "platform/lock.h"
#include "read/interpret/interpreter.h"

namespace mw {

/// Where runs are recorded: as given, else $MIDWATCH_HOME, else midwatch in the user's state folder
/// ($XDG_STATE_HOME, or ~/.local/state), else kOldHome.
std::string home_of(const std::string& given);
/// The same, whatever is given and $MIDWATCH_HOME says; "": the user has no state folder.
std::string users_home();
/// In the working directory (`run`) or beside the files (`attach`): where midwatch 0.1 recorded. Runs are still found
/// there.
inline constexpr std::string_view kOldHome = ".midwatch";

/// False for what the watch itself says: recognition, rotation, ticks, its end, decisions.
bool is_from_source(const Event& event);

class Recorder {
 public:
  /// A source as the journal knows it: what it was, and how many events its present content has given.
  struct KnownSource {
    uint32_t number = 0;
    std::string path;
    uint64_t head_hash = 0;
    int64_t head_bytes = 0;
    uint64_t events = 0;
    std::vector<Interpreter::Switch> dialects;  ///< in which it was read, from which line on
  };

  /// Opens the recorded run of `paths` under `home`, or begins one; it is called `run`, where that is not "". Another
  /// watch of the same run is an error.
  static Result<std::unique_ptr<Recorder>> open(Disk& disk, Locks& locks, const std::string& home,
                                                const std::string& run, const std::vector<std::string>& paths);

  /// Folds what was recorded into `state`.
  Result<void> replay_into(State& state);
  /// By their numbers.
  const std::map<uint32_t, KnownSource>& sources() const { return sources_; }
  /// The dialect that was last spoken; "" when nobody's.
  const std::string& dialect() const { return dialect_; }
  bool resumed() const { return records_ > 0; }

  void record(const Event& event);
  /// Hands what was recorded to the system; an error (full disk) is returned, and the next call tries again.
  Result<void> flush();
  Result<void> sync();
  /// Bytes of records that wait in memory, because the disk refuses them.
  size_t waiting() const { return journal_->waiting(); }
  const std::string& folder() const { return folder_; }

 private:
  Recorder(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}
  Disk& disk_;
  std::string folder_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Journal> journal_;
  std::map<uint32_t, KnownSource> sources_;
  std::string dialect_;
  uint64_t records_ = 0;
  std::string line_;
};

/// The run that is recorded in `run_folder`, folded; changes nothing on disk.
Result<State> read_recorded(Disk& disk, const std::string& run_folder);
/// `heard` (may be empty) is called with every event once it is folded.
Result<State> read_recorded(Disk& disk, const std::string& run_folder,
                            const std::function<void(const State&, const Event&)>& heard);

}  // namespace mw
