// The logs and metrics that the processes of a supervised run write, found by the files that they have open.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "platform/clock.h"
#include "platform/open_files.h"
#include "platform/process.h"
#include "read/new_content.h"

namespace mw {

/// What trainers call their logs and metrics.
bool looks_like_log(std::string_view path);
/// No file of a run, whatever it is called: of the kernel, a device, midwatch's own.
bool is_no_run_file(std::string_view path);

/// Where a run writes its output to a file rather than to midwatch, that file is read, too:
///  - the standard output or error of one of its processes, where its name is a log's (`python train.py > train.log`);
///  - while no step was seen for kBlind since the attempt began, or no word at all for kMute, also what else they write
///    that is called like a log or like metrics: it tells the same again where the output tells of steps.
/// What stood before the attempt began in a file that is appended to is left out, as it is of another run, or of an
/// attempt that is over.
class WrittenLogs final : public Task {
 public:
  static constexpr Duration kBlind = Duration::seconds(30);
  static constexpr Duration kMute = Duration::seconds(2);
  static constexpr Duration kSilent =
      Duration::seconds(120);          ///< after which a run of which nothing is read is hinted at
  static constexpr size_t kMost = 16;  ///< files that are found so

  struct Scope {
    std::function<int()> attempt;                       ///< the number of the one that runs; 0: none does
    std::function<Time()> began;                        ///< when it did
    std::function<std::vector<ProcessInfo>()> members;  ///< its processes
    std::function<Result<std::vector<OpenFile>>(int64_t pid)> files;
    std::function<void()> keep;  ///< what is left out of `content` has changed
    std::function<void(const std::string& sentence)> say;
    std::string folder;  ///< where the run is recorded: what lies there is read without this
  };
  WrittenLogs(Clock& clock, NewContent& content, Scope scope)
      : clock_(clock), content_(content), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Writer {
    const ProcessInfo& process;
    const OpenFile& file;
  };
  void look(const State& state, EventWriter& writer);
  bool take(const State& state, const Writer& one);
  bool wanted(const Writer& one, bool blind) const;
  bool blind(const State& state, const EventWriter& writer) const;
  void hint(const State& state, const EventWriter& writer);
  Duration since_began() const { return Duration{clock_.steady().ns - began_.ns}; }

  Clock& clock_;
  NewContent& content_;
  Scope scope_;
  int attempt_ = 0;
  Duration began_, due_;        ///< by the steady clock: the attempt; when files are looked at next
  int looks_ = 0;               ///< of this attempt
  std::set<std::string> seen_;  ///< at the last scan: a file that is gone by the next is no log
  std::set<std::string> taken_;
  bool hinted_ = false;
};

}  // namespace mw
