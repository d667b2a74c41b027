// What people ask of a run that is being watched: one small file each in the run's folder, so that it is not lost
// when nobody watches just then, and reaches a midwatch in another container on the same files.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/supervise/run_ask.h"
#include "core/task.h"
#include "platform/doors.h"

namespace mw {

inline constexpr std::string_view kInboxFolder = "inbox";  ///< in a run's folder

/// Writes `ask` into the inbox of the run in `run_folder`, durably; returns the file's path. It goes when a midwatch
/// has taken it. `pid` keeps two askers of the same instant apart.
Result<std::string> put_ask(Disk& disk, const std::string& run_folder, const RunAsk& ask, int64_t pid);
/// kInvalid with what is wrong.
Result<RunAsk> parse_ask(std::string_view text);

/// Takes the notes that were left for the run in `run_folder`, in order, each once; what is asked otherwise stays.
void take_notes(Disk& disk, const std::string& run_folder, const State& state, EventWriter& writer);

/// Takes what is asked, in order, each once.
class Inbox final : public Task {
 public:
  /// Does what is requested and recorded (event::Requested), apart from RunAsk::kTell. It may get the same request
  /// again.
  using Handle = std::function<Result<void>(const RunAsk&, const State&, EventWriter&)>;
  Inbox(const Doors& doors, std::string run_folder, Handle handle)
      : doors_(doors), folder_(std::move(run_folder)), handle_(std::move(handle)) {}
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  /// Nothing can be done any more, but a note can be kept.
  void over(const State& state, EventWriter& writer) override { take_notes(doors_.disk, folder_, state, writer); }

 private:
  Result<void> take(const std::string& path, const State& state, EventWriter& writer);

  Doors doors_;
  std::string folder_;
  Handle handle_;
};

}  // namespace mw
