// A run that midwatch did not start: its files are found by its process, its end is seen, and it is paused or stopped
// where midwatch was allowed to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "core/supervise/run_ask.h"
#include "core/task.h"
#include "platform/clock.h"
#include "platform/process.h"

namespace mw {

inline constexpr std::string_view kAdoptedFile = "adopted.json";  ///< in a run's folder

struct Adopted {
  ProcessId id;
  std::vector<std::string> command;  ///< without secrets
  std::string folder;                ///< where it works
  std::vector<std::string> paths;    ///< what it and its descendants write, as far as it looks like logs or metrics
  std::vector<std::string> allow;    ///< "pause", "stop"
};

/// Looks at a process and its descendants: their standard output and error, through a pipe to tee(1) too, and other
/// files that they have open to write. Errors say what to do: no such process, another user's, one that midwatch itself
/// came from, one that writes to a terminal or a pipe that nobody keeps.
///
/// `also`: files that a person named; they are read first, and with them it may write where it wants.
Result<Adopted> adopt(Processes& processes, int64_t pid, const std::vector<std::string>& also);

std::string adopted_text(const Adopted& adopted, const std::string& boot);
/// `boot` gets the start of the machine that its process numbers belong to.
Result<Adopted> parse_adopted(std::string_view text, std::string* boot);

/// Beside the watch of its files. The watch is over when the process has ended and all that it wrote is read. Only its
/// parent gets its exit status.
class Adoption final : public Task {
 public:
  static constexpr Duration kGrace = Duration::seconds(30);  ///< from asking it to end to killing it
  static constexpr Duration kPoll = Duration::millis(100);   ///< between checks whether it lives
  static constexpr Duration kLateOutput =
      Duration::seconds(2);  ///< within which others may still write its output (tee)

  Adoption(Processes& processes, Clock& clock, const Knowledge& knowledge, Adopted adopted,
           std::function<void(const std::string&)> say)
      : processes_(processes),
        clock_(clock),
        knowledge_(knowledge),
        adopted_(std::move(adopted)),
        say_(std::move(say)) {}

  const Adopted& adopted() const { return adopted_; }
  /// What is not allowed is reported, and not done.
  Result<void> ask(const RunAsk& ask);

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;

 private:
  bool allowed(std::string_view what) const;
  std::string name() const { return cat("process ", adopted_.id.pid); }
  void look();
  size_t send(int signal, char to_state, bool but);
  Result<void> keep_paused(const State& state, EventWriter& writer);
  Result<void> do_as_asked(const State& state, EventWriter& writer);
  void press();
  void report_end(const State& state, EventWriter& writer);

  Processes& processes_;
  Clock& clock_;
  const Knowledge& knowledge_;
  Adopted adopted_;
  std::function<void(const std::string&)> say_;
  std::vector<ProcessInfo> tree_;  ///< it and its descendants, those too that have lost their parents since
  std::optional<bool> paused_;     ///< its processes are stopped (SIGSTOP); unset: as the journal says
  bool kill_ = false, gone_ = false, end_reported_ = false;
  uint32_t stopping_ = 0;  ///< number of the intent to end it
  Duration stop_from_, gone_from_;
  int rungs_ = 0;
};

}  // namespace mw
