// What midwatch does to a held run only with a person's leave, or not at all. What was asked and answered is on disk,
// in the attempt's folder, so that no answer is lost with the midwatch that asked.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/event_writer.h"
#include "core/mode.h"
#include "core/state.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/doors.h"

namespace mw {

/// What is asked of a person about the attempt in this folder of the run with this nonce: "break", "restart", or "".
std::string approval_asked(Disk& disk, const std::string& folder, const std::string& nonce);

class Approvals {
 public:
  enum class Deed { kBreak, kRestart };
  struct Doors {
    Disk& disk;
    Clock& clock;
    const std::function<Result<void>(const std::string& path, std::string_view text)>& write_file;
    const std::function<void(const std::string& sentence)>& say;
  };
  explicit Approvals(const Doors& doors) : doors_(doors) {}

  /// From now on it is about the attempt in this folder, and what was asked there before.
  /// An error: the folder cannot be read, and all is as it was.
  Result<void> attempt(const std::string& folder, const std::string& nonce);
  /// Files there that midwatch did not write, and that count for nothing.
  const std::vector<std::string>& foreign() const { return foreign_; }
  /// May it be done now? When it may not, `what` (a sentence) and `why` (another) are told, once for each `what`.
  Result<bool> may(Deed action, Mode mode, const std::string& what, const std::string& why, const State& state,
                   EventWriter& writer);
  bool was_asked(Deed action) const { return asked_[index(action)]; }
  bool asks(Deed action) const { return was_asked(action) && !given_[index(action)]; }
  Result<void> give(Deed action);
  /// The attempt goes on, whatever more is seen in it: it is not asked about again.
  Result<void> refuse_break();
  /// The reason to ask is gone: nothing is asked any more, nor allowed.
  Result<void> withdraw_break();
  bool refused() const { return refused_; }

 private:
  static size_t index(Deed action) { return action == Deed::kBreak ? 0 : 1; }
  std::string file(std::string_view what, Deed action) const;
  Result<bool> ours(const std::string& path, const std::string& nonce);
  Result<void> write(const std::string& path);

  Doors doors_;
  std::string folder_, nonce_;
  std::vector<std::string> foreign_;
  std::set<std::string> told_;
  bool asked_[2] = {}, given_[2] = {};
  bool refused_ = false;
};

}  // namespace mw
