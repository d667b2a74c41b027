#include "platform/real/other_mounts.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr int kAncestors = 100;  // that are asked for their mounts

struct Mount {
  std::string_view device;  // "8:1"
  std::string root, at;     // what of its file system is mounted, and where
};

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// "\040" is a space.
std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"
std::vector<Mount> mounts_in(std::string_view table) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(table, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 5) continue;
    mounts.push_back({fields[2], without_escapes(fields[3]), without_escapes(fields[4])});
  }
  return mounts;
}

/// What of `path` lies below `folder`: "" for itself, "/a/b".
std::optional<std::string_view> below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path == "/" ? std::string_view() : path;
  if (!path.starts_with(folder) || (path.size() > folder.size() && path[folder.size()] != '/')) return std::nullopt;
  return path.substr(folder.size());
}

std::string joined(std::string_view folder, std::string_view rest) {
  if (folder == "/" && !rest.empty()) return std::string(rest);
  return cat(folder, rest);
}

/// Its number; nullopt: it cannot be seen.
std::optional<std::pair<uint64_t, uint64_t>> identity(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return std::pair{static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino)};
}

/// 0: none, or it cannot be seen.
int64_t parent_of(int64_t pid) {
  const std::string stat = read_whole(cat("/proc/", pid, "/stat"));
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return 0;
  const auto fields = split(std::string_view(stat).substr(name_end + 1), ' ');
  return fields.size() < 3 ? 0 : parse_int(fields[2]).value_or(0);
}

}  // namespace

std::vector<std::string> places_of(std::string_view theirs, std::string_view ours, std::string_view path) {
  const std::vector<Mount> there = mounts_in(theirs);
  const Mount* holds = nullptr;
  for (const Mount& one : there) {  // the later one lies over the earlier one
    if (below(path, one.at) && (holds == nullptr || one.at.size() >= holds->at.size())) holds = &one;
  }
  if (holds == nullptr) return {};
  const std::string inside = joined(holds->root, *below(path, holds->at));
  std::vector<std::string> places;
  for (const Mount& one : mounts_in(ours)) {
    const auto rest = one.device == holds->device ? below(inside, one.root) : std::nullopt;
    if (rest) places.push_back(joined(one.at, *rest));
  }
  return places;
}

bool OtherMounts::differ() {
  if (known_ == Known::kNot) {
    const auto own = identity("/proc/self/ns/mnt"), other = identity(cat("/proc/", pid_, "/ns/mnt"));
    known_ = own && other && *own != *other ? Known::kOther : Known::kSame;
  }
  return known_ == Known::kOther;
}

/// By the first of the container's processes, which outlives the others.
const std::string& OtherMounts::root() {
  if (!root_.empty()) return root_;
  const auto mounts = identity(cat("/proc/", pid_, "/ns/mnt")), root = identity(cat("/proc/", pid_, "/root"));
  int64_t first = pid_;
  for (int i = 0; i < kAncestors; ++i) {
    const int64_t above = parent_of(first);
    if (above <= 0 || identity(cat("/proc/", above, "/ns/mnt")) != mounts) break;
    if (identity(cat("/proc/", above, "/root")) != root) break;
    first = above;
  }
  root_ = cat("/proc/", first, "/root");
  return root_;
}

std::string OtherMounts::reached(const std::string& place, const std::string& target) {
  if (!differ()) return target;
  const auto wanted = identity(place);
  if (!wanted) return "";
  if (identity(target) == wanted) return target;
  if (ours_.empty()) {
    ours_ = read_whole("/proc/self/mountinfo");
    theirs_ = read_whole(cat("/proc/", pid_, "/mountinfo"));
  }
  std::vector<std::string> places = places_of(theirs_, ours_, target);
  places.push_back(cat(root(), target));
  const auto found =
      std::find_if(places.begin(), places.end(), [&wanted](const auto& one) { return identity(one) == wanted; });
  return found == places.end() ? "" : *found;
}

}  // namespace mw
