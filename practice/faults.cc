#include "practice/faults.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace practice {
namespace {

constexpr std::pair<std::string_view, Fault> kNames[] = {{"nan", Fault::kNan},
                                                         {"bad-lr", Fault::kBadLr},
                                                         {"leaky-rubric", Fault::kLeakyRubric},
                                                         {"save-fails", Fault::kSaveFails},
                                                         {"metadata-only", Fault::kMetadataOnly},
                                                         {"keep-all", Fault::kKeepAll},
                                                         {"reward-crash", Fault::kRewardCrash},
                                                         {"fd-leak", Fault::kFdLeak},
                                                         {"stale-weights", Fault::kStaleWeights},
                                                         {"clock-jump", Fault::kClockJump},
                                                         {"silent", Fault::kSilent}};

}  // namespace

std::optional<PlannedFault> parse_fault(std::string_view text) {
  PlannedFault fault;
  constexpr std::string_view kAlways = ":always";
  if (text.size() > kAlways.size() && text.substr(text.size() - kAlways.size()) == kAlways) {
    fault.always = true;
    text.remove_suffix(kAlways.size());
  }
  if (const size_t mark = text.find('@'); mark != std::string_view::npos) {
    const auto step = mw::parse_int(text.substr(mark + 1));
    if (!step || *step < 1) return std::nullopt;
    fault.from = *step;
    text = text.substr(0, mark);
  }
  const auto* const known =
      std::find_if(std::begin(kNames), std::end(kNames), [text](const auto& one) { return one.first == text; });
  if (known == std::end(kNames)) return std::nullopt;
  fault.what = known->second;
  return fault;
}

void Faults::spare_resumed() {
  planned_.erase(std::remove_if(planned_.begin(), planned_.end(), [](const PlannedFault& one) { return !one.always; }),
                 planned_.end());
}

bool Faults::from(Fault what, int64_t step) const {
  return std::any_of(planned_.begin(), planned_.end(),
                     [&](const PlannedFault& one) { return one.what == what && step >= one.from; });
}

bool Faults::at(Fault what, int64_t step) const {
  return std::any_of(planned_.begin(), planned_.end(),
                     [&](const PlannedFault& one) { return one.what == what && step == one.from; });
}

int Faults::leak_files() {
  if (!limited_) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kOpenFilesLimit);
    limited_ = setrlimit(RLIMIT_NOFILE, &limit) == 0;
  }
  for (int i = 0; limited_ && i < kLeakedPerStep; ++i) {
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return errno;
  }
  return 0;
}

bool fill_disk(const std::string& folder) {
  struct statvfs about {};
  if (statvfs(folder.c_str(), &about) != 0) return false;
  if (static_cast<int64_t>(about.f_blocks * about.f_frsize) > kSmallDisk) return false;
  const int file = open(mw::cat(folder, "/core.", getpid()).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::string piece(4096, '\0');
  while (write(file, piece.data(), piece.size()) > 0) {
  }
  return close(file) == 0;
}

}  // namespace practice
