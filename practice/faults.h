// Faults on demand: what goes wrong in a training, at a step that is known beforehand, so that it can be drilled. Each
// really happens in the process (a 0/0, a full disk, too many open files); none is only printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace practice {

enum class Fault : uint8_t {
  kNan,           ///< one advantage is 0/0: loss, gradient and weights are NaN from then on
  kBadLr,         ///< the learning rate is kBadLrFactor times too high
  kLeakyRubric,   ///< the judge pays in full for a meaningless mark
  kSaveFails,     ///< a core file fills the (small) file system of the checkpoints before a save
  kSigbus,        ///< a save goes through a mapped file that the (small) file system cannot hold
  kMetadataOnly,  ///< saves write the small files and the pointer only, and report success
  kPointerStays,  ///< saves do not move the pointer
  kKeepAll,       ///< retention forgets to remove what it should
  kRewardCrash,   ///< the reward function reads an answer as JSON that is none
  kFdLeak,        ///< the reward function leaves files open, up to the limit
  kStaleWeights,  ///< the engine is not sent the new weights any more
  kClockJump,     ///< the machine's clock, as the log shows it, jumps back by kClockJumpSeconds
  kSilent,        ///< the log goes nowhere; training goes on
};

constexpr double kBadLrFactor = 60, kClockJumpSeconds = 3600;
constexpr int kOpenFilesLimit = 256, kLeakedPerStep = 40;  // descriptors, of kFdLeak
constexpr int64_t kSmallDisk = 64 << 20;                   // bytes; larger file systems are never filled

struct PlannedFault {
  Fault what{};
  int64_t from = 1;     ///< step
  bool always = false;  ///< in resumed attempts, too
};

/// "nan@23", "leaky-rubric" (from the first step), "reward-crash@9:always"; nullopt when it is none.
std::optional<PlannedFault> parse_fault(std::string_view text);

class Faults {
 public:
  void add(const PlannedFault& fault) { planned_.push_back(fault); }
  /// A resumed attempt is spared the faults that are not meant for it.
  void spare_resumed();
  bool from(Fault what, int64_t step) const;  ///< at its step and all later ones
  bool at(Fault what, int64_t step) const;    ///< at its step alone
  /// Leaves kLeakedPerStep more files open, under a limit of kOpenFilesLimit. 0, or the errno that ended it.
  int leak_files();

 private:
  std::vector<PlannedFault> planned_;
  bool limited_ = false;
};

/// Fills the file system of `folder` with a core file, as a crash of another process does. False, and nothing is
/// written, when that file system is larger than kSmallDisk.
bool fill_disk(const std::string& folder);

/// Writes a mapped file that the file system of `folder` cannot hold, which ends the process by SIGBUS, with the words
/// of Python's faulthandler. Returns, and nothing is written, when that file system is larger than kSmallDisk.
void write_past_memory(const std::string& folder);

}  // namespace practice
