#include "act/supervise/resume_probe.h"

#include <utility>

namespace mw {

std::optional<LastWhole> ResumeProbe::ask(const std::vector<std::string>& roots, const CheckpointLayout& layout,
                                          int64_t before, const std::set<std::string>& skip,
                                          const UnsoundReads& unsound) {
  if (aside_.busy()) {
    if (!given_up_ && clock_.steady().ns - since_.ns < kLongest.ns) return std::nullopt;
    given_up_ = true;
    return LastWhole();
  }
  if (auto found = aside_.take(); found && !std::exchange(given_up_, false)) return found;
  since_ = clock_.steady();
  aside_.start([disk = disk_, roots, layout, before, skip, unsound] {
    return find_last_whole(*disk, roots, layout, before, skip, unsound);
  });
  if (!aside_.started()) return LastWhole();  // no thread to be had
  return std::nullopt;
}

}  // namespace mw
