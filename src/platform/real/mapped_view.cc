#include "platform/real/mapped_view.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace mw {
namespace {

/// A mapped stretch, as the handler of signals knows it.
struct Guard {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> from{0}, to{0};  // 0: nothing
  std::atomic<bool> lost{false};
};
std::array<Guard, 32> guards;  // no view without one
struct sigaction before;

uintptr_t page_bytes() {
  static const auto bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Only what a handler may: atomics, and system calls.
void on_bus_error(int, siginfo_t* info, void*) {
  const int number = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Guard& guard : guards) {
    const uintptr_t from = guard.from.load(), to = guard.to.load();
    if (from == 0 || at < from || at >= to) continue;
    const uintptr_t page = at - at % page_bytes();
    guard.lost = true;
    void* const zeros =
        ::mmap(reinterpret_cast<void*>(page), to - page, PROT_READ,  // NOLINT(performance-no-int-to-ptr)
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = number;
    if (zeros != MAP_FAILED) return;
    break;
  }
  ::sigaction(SIGBUS, &before, nullptr);  // the access is made again, and is theirs
  errno = number;
}

void watch_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes();
    struct sigaction ours {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    ::sigaction(SIGBUS, &ours, &before);
  });
}

/// Is it in memory, as far as three of its pages show? What is not is read ahead by read(), in larger steps.
bool is_resident(char* memory, size_t size) {
  const size_t last = (size - 1) / page_bytes();
  for (const size_t page : {size_t{0}, last / 2, last}) {
    unsigned char there = 0;
    if (::mincore(memory + page * page_bytes(), 1, &there) != 0 || (there & 1U) == 0) return false;
  }
  return true;
}

Guard* take_guard() {
  for (Guard& guard : guards) {
    if (!guard.taken.exchange(true)) return &guard;
  }
  return nullptr;
}

class MappedView final : public FileView {
 public:
  MappedView(Guard& guard, int descriptor, uint64_t offset, char* memory, size_t size, size_t skipped)
      : guard_(guard), descriptor_(descriptor), offset_(offset), memory_(memory), size_(size), skipped_(skipped) {
    guard_.lost = false;
    const size_t pages = (size_ + page_bytes() - 1) / page_bytes();
    guard_.to = reinterpret_cast<uintptr_t>(memory_) + pages * page_bytes();
    guard_.from = reinterpret_cast<uintptr_t>(memory_);
  }
  ~MappedView() override {
    guard_.from = 0;
    guard_.to = 0;
    ::munmap(memory_, size_);
    guard_.taken = false;
  }
  MappedView(const MappedView&) = delete;
  MappedView& operator=(const MappedView&) = delete;

  std::string_view bytes(size_t offset, size_t size) override {
    if (offset > size_ - skipped_ || size > size_ - skipped_ - offset || size == 0) return {};
    const char* const begin = memory_ + skipped_ + offset;
    // The rest of a file's last page are zeros without a signal: only its size shows that it was cut there.
    struct stat status {};
    if (!sound() || ::fstat(descriptor_, &status) != 0) return {};
    if (status.st_size < 0 || static_cast<uint64_t>(status.st_size) < offset_ + offset + size) return {};
    return {begin, size};
  }
  bool sound() const override { return !guard_.lost; }

 private:
  Guard& guard_;
  const int descriptor_;
  const uint64_t offset_;
  char* const memory_;
  const size_t size_, skipped_;  // skipped: before the offset, to the page's beginning
};

}  // namespace

std::unique_ptr<FileView> map_view(int descriptor, uint64_t offset, size_t size) {
  if (size == 0) return nullptr;
  watch_bus_errors();
  Guard* const guard = take_guard();
  if (guard == nullptr) return nullptr;
  const size_t skipped = offset % page_bytes();
  void* const memory =
      ::mmap(nullptr, size + skipped, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset - skipped));
  if (memory == MAP_FAILED) {
    guard->taken = false;
    return nullptr;
  }
  if (!is_resident(static_cast<char*>(memory), size + skipped)) {
    ::munmap(memory, size + skipped);
    guard->taken = false;
    return nullptr;
  }
  return std::make_unique<MappedView>(*guard, descriptor, offset, static_cast<char*>(memory), size + skipped, skipped);
}

}  // namespace mw
