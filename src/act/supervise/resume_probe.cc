#include "act/supervise/resume_probe.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/paths.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/writers.h"

namespace mw {
namespace {

std::vector<int64_t> processes_of(System& system) {
  std::vector<int64_t> pids;
  const auto names = system.names("/proc");
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (const auto pid = parse_int(name); pid && *pid > 0) pids.push_back(*pid);
  }
  return pids;
}

}  // namespace

std::optional<LastWhole> ResumeProbe::ask(const std::vector<std::string>& roots, const CheckpointLayout& layout,
                                          int64_t before, const std::set<std::string>& skip,
                                          const EarlierFindings& earlier) {
  if (aside_.busy()) {
    if (!given_up_ && clock_.steady().ns - since_.ns < kLongest.ns) return std::nullopt;
    given_up_ = true;
    return LastWhole();
  }
  if (auto found = aside_.take(); found && !std::exchange(given_up_, false)) {
    const Duration now = clock_.steady();
    const bool written = !found->writing.empty() || !found->written.empty();
    if (!written || (writing_since_ && now.ns - writing_since_->ns >= kWriting.ns)) {
      writing_since_.reset();
      return found;
    }
    if (!writing_since_ && say_)
      say_(cat("what follows waits for ", found->writing.empty() ? *found->written.begin() : found->writing,
               ", which a process still writes, ", format_duration(kWriting), " at most"));
    if (!writing_since_) writing_since_ = now;
    again_ = {now.ns + kAgain.ns};
    return std::nullopt;
  }
  if (clock_.steady().ns < again_.ns) return std::nullopt;
  since_ = clock_.steady();
  aside_.start([disk = disk_, system = system_, roots, layout, before, skip, earlier] {
    const auto is_written = [&system](const std::string& path) { return !writer_of(*system, path).empty(); };
    LastWhole found = find_last_whole(*disk, roots, layout, before, skip, earlier,
                                      system == nullptr ? std::function<bool(const std::string&)>() : is_written);
    const bool moves = found.from != kNoStep || before != kNoStep;
    if (moves && system != nullptr) found.written = written_now(*system, processes_of(*system), layout);
    std::erase_if(found.written, [&roots](const std::string& path) {
      return std::none_of(roots.begin(), roots.end(),
                          [&path](const std::string& root) { return folder_of(path) == real_path(root); });
    });
    return found;
  });
  if (!aside_.started()) return LastWhole();  // no thread to be had
  return std::nullopt;
}

}  // namespace mw
