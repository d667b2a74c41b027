#include "platform/large_pages.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace mw {
namespace {

constexpr size_t kBuffer = size_t{24} << 20;  // more than is free below the heap's end
constexpr int kSmall = 1, kLarge = 2, kNotGranted = 3;

/// The flags of the mapping that holds that address ("VmFlags: rd wr ... hg").
std::string flags_of(const void* at) {
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
      here = reinterpret_cast<uintptr_t>(at) >= begin && reinterpret_cast<uintptr_t>(at) < end;
    if (here && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

/// What a process of its own comes to: the heap is the whole process's.
int in_child(bool ask) {
  const pid_t child = fork();
  if (child == 0) {
    if (ask && !grow_heap_in_large_pages()) _exit(kNotGranted);
    auto* const buffer = static_cast<char*>(std::malloc(kBuffer));
    std::memset(buffer + kBuffer - 4096, 1, 4096);
    const bool large = flags_of(buffer + kBuffer - 1).find(" hg") != std::string::npos && buffer[kBuffer - 1] == 1;
    std::free(buffer);
    _exit(large ? kLarge : kSmall);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("a buffer lies in large pages once they were asked for, where the system has them") {
  CHECK(in_child(false) == kSmall);
  const int asked = in_child(true);
  CHECK((asked == kLarge || asked == kNotGranted));
}

}  // namespace
}  // namespace mw
