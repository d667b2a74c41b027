#include "practice/faults.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace practice {
namespace {

constexpr std::pair<std::string_view, Fault> kNames[] = {{"nan", Fault::kNan},
                                                         {"bad-lr", Fault::kBadLr},
                                                         {"leaky-rubric", Fault::kLeakyRubric},
                                                         {"save-fails", Fault::kSaveFails},
                                                         {"sigbus", Fault::kSigbus},
                                                         {"metadata-only", Fault::kMetadataOnly},
                                                         {"pointer-stays", Fault::kPointerStays},
                                                         {"keep-all", Fault::kKeepAll},
                                                         {"reward-crash", Fault::kRewardCrash},
                                                         {"fd-leak", Fault::kFdLeak},
                                                         {"stale-weights", Fault::kStaleWeights},
                                                         {"clock-jump", Fault::kClockJump},
                                                         {"silent", Fault::kSilent}};

/// Size of the file system; 0 when it is not a small one.
size_t bytes_of_small(const std::string& folder) {
  struct statvfs about {};
  if (statvfs(folder.c_str(), &about) != 0) return 0;
  const size_t bytes = about.f_blocks * about.f_frsize;
  return static_cast<int64_t>(bytes) > kSmallDisk ? 0 : bytes;
}

/// The beginning of this process's core dump: an ELF header, one note segment, in it NT_PRPSINFO (core(5)).
std::string core_head() {
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_type = ET_CORE;
  file.e_phoff = sizeof file;
  file.e_phentsize = sizeof(Elf64_Phdr);
  file.e_phnum = 1;
  elf_prpsinfo info{};
  info.pr_pid = getpid();
  info.pr_sid = getsid(0);
  std::memcpy(info.pr_fname, "practice_run", 13);
  const Elf64_Nhdr note{5, sizeof info, NT_PRPSINFO};
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof file + sizeof segment;
  segment.p_filesz = sizeof note + 8 + sizeof info;
  std::string head;
  const auto put = [&head](const auto& part) { head.append(reinterpret_cast<const char*>(&part), sizeof part); };
  put(file);
  put(segment);
  put(note);
  head.append("CORE\0\0\0", 8);
  put(info);
  return head;
}

void on_bus_error(int) {
  constexpr std::string_view kWords =
      "Fatal Python error: Bus error\n\nCurrent thread 0x00007f3a5c1d4740 (most recent call first):\n"
      "  File \"/workspace/practice/train.py\", line 212 in save_checkpoint\n";
  if (write(STDERR_FILENO, kWords.data(), kWords.size()) < 0) _exit(1);
  signal(SIGBUS, SIG_DFL);  // the write is tried again when this returns, and ends the process
}

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
  if (bytes_of_small(folder) == 0) return false;
  const int file = open(mw::cat(folder, "/core.", getpid()).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::string head = core_head(), piece(4096, '\0');
  if (write(file, head.data(), head.size()) < 0) return close(file) == 0;
  while (write(file, piece.data(), piece.size()) > 0) {
  }
  return close(file) == 0;
}

void write_past_memory(const std::string& folder) {
  const size_t size = bytes_of_small(folder);
  if (size == 0) return;
  const int file = open(mw::cat(folder, "/staged.", getpid()).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(2 * size)) != 0) return;
  void* const place = mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) return;
  signal(SIGBUS, on_bus_error);
  std::memset(place, 1, 2 * size);
}

}  // namespace practice
