// What a process in another mount namespace (a container) calls its files, and how they are reached from here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Where the mount table `ours` shows what `theirs` has at `path` (tables as /proc/PID/mountinfo, proc(5)). Something
/// else may be mounted over such a place.
std::vector<std::string> places_of(std::string_view theirs, std::string_view ours, std::string_view path);

/// The names of one process's files.
class OtherMounts {
 public:
  explicit OtherMounts(int64_t pid) : pid_(pid) {}
  /// A path that leads here to what stands at `place` (/proc/PID/fd/N, /proc/PID/cwd) and is called `target` there:
  /// `target` itself, where its file system is mounted here, or a path below /proc/PID/root, which is there as long as
  /// that process lives. "" where none does.
  std::string reached(const std::string& place, const std::string& target);

 private:
  bool differ();
  const std::string& root();

  int64_t pid_;
  enum class Known { kNot, kSame, kOther } known_ = Known::kNot;
  std::string root_, theirs_, ours_;
};

}  // namespace mw
