#include "platform/uses.h"

#include <algorithm>
#include <set>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLineBytes = size_t{2} << 20;   // of a command line or environment (the kernel's usual limit)
constexpr size_t kMapsBytes = size_t{16} << 20;  // of /proc/PID/maps: some 100,000 mappings
constexpr size_t kUses = 16;                     // that are reported
constexpr std::string_view kGone = " (deleted)";

/// The inode and path of "7f00-7f01 rw-s 00000000 00:1b 553  /dev/shm/psm_1234" (proc(5)); the path may hold spaces.
Mapped parse_map(std::string_view line) {
  Mapped found;
  size_t at = 0;
  for (int field = 0; field < 5; ++field) {
    const size_t begin = line.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) return {};
    at = line.find(' ', begin);
    if (at == std::string_view::npos) return {};
    if (field == 4) {
      const auto inode = parse_int(line.substr(begin, at - begin));
      if (!inode || *inode <= 0) return {};
      found.inode = static_cast<uint64_t>(*inode);
    }
  }
  const size_t begin = line.find_first_not_of(' ', at);
  if (begin != std::string_view::npos) found.path = line.substr(begin);
  return found;
}

bool below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/' &&
         !path.ends_with(kGone);
}

std::string use_by_files(System& system, const std::string& place, std::string_view word) {
  if (const auto files = system.names(place + "/fd"); files.ok()) {
    for (const std::string& number : *files) {
      const auto target = system.link(cat(place, "/fd/", number));
      if (target.ok() && contains(*target, word)) return "has a file of it open";
    }
  }
  const auto maps = system.read(place + "/maps", kMapsBytes);
  return maps.ok() && contains(*maps, word) ? "maps a file of it" : "";
}

std::string use_by(System& system, const std::string& place, std::string_view word, bool& complete) {
  const auto words = system.read(place + "/cmdline", kLineBytes);
  if (words.ok() && contains(*words, word)) return "names it in its command line";
  // It may end while it is looked at; then nothing of it is left to look at.
  if (!words.ok() && words.error().code != Error::Code::kNotFound && system.read(place + "/stat", 512).ok()) {
    complete = false;
  }
  if (const auto text = system.read(place + "/environ", kLineBytes); text.ok() && contains(*text, word)) {
    return "names it in its environment";
  }
  if (const auto folder = system.link(place + "/cwd"); folder.ok() && contains(*folder, word)) return "works in it";
  return use_by_files(system, place, word);
}

/// `path` without "." and "//"; ".." goes up, as where no link is on the way.
std::string normal(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string out;
  for (const std::string_view part : parts) out += cat("/", part);
  return out;
}

/// What may be a path in a command line: its words, what stands behind the first "=" of one, and what stands between
/// the signs by which settings within a word are written.
std::vector<std::string_view> pieces_of(std::string_view command) {
  constexpr std::string_view kBetween = " \t\n=:,;\"'()[]{}";
  std::vector<std::string_view> pieces;
  for (const std::string_view word : split(command, '\0')) {
    pieces.push_back(word);
    if (const size_t equals = word.find('='); equals != std::string_view::npos)
      pieces.push_back(word.substr(equals + 1));
    for (size_t at = word.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const size_t end = std::min(word.find_first_of(kBetween, at), word.size());
      pieces.push_back(word.substr(at, end - at));
      at = word.find_first_not_of(kBetween, end);
    }
  }
  return pieces;
}

/// Finds which things in a folder a command line names.
class NamesBelow {
 public:
  NamesBelow(System& system, std::string folder, std::string real)
      : system_(system), folder_(normal(folder)), real_(std::move(real)) {
    const auto names = system.names(real_);
    if (names.ok()) names_.insert(names->begin(), names->end());
  }

  /// By its name in the folder, or ""; `works`: the folder of the process.
  std::string named_by(std::string_view piece, const std::string& works) const {
    if (piece.empty() || (piece[0] != '/' && works.empty())) return "";
    const std::string path = normal(piece[0] == '/' ? std::string(piece) : cat(works, "/", piece));
    for (const std::string* above : {&real_, &folder_}) {
      if (below(path, *above)) return there(first_of(path, *above));
    }
    // By another way that leads there: what has no such name in it is not asked about, as its disk may not answer.
    const auto parts = split(path, '/');
    const bool may = std::any_of(parts.begin(), parts.end(),
                                 [this](std::string_view part) { return names_.count(std::string(part)) != 0; });
    const auto real = may ? system_.real(path) : Result<std::string>(std::string());
    return real.ok() && below(*real, real_) ? there(first_of(*real, real_)) : "";
  }

 private:
  static std::string first_of(const std::string& path, const std::string& above) {
    const size_t from = above.size() + 1;
    return path.substr(from, path.find('/', from) - from);
  }

  /// "" of what is not there, as far as that can be seen.
  std::string there(std::string name) const { return names_.empty() || names_.count(name) != 0 ? name : ""; }

  System& system_;
  const std::string folder_, real_;
  std::set<std::string> names_;
};

}  // namespace

Uses uses_of(System& system, std::string_view word) {
  Uses uses;
  const auto names = system.names("/proc");
  // Where /proc hides other users' processes (mount option hidepid), it hides the first one, too.
  if (!names.ok() || std::find(names->begin(), names->end(), "1") == names->end()) uses.complete = false;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const auto pid = parse_int(name);
    if (!pid || uses.found.size() >= kUses) continue;
    std::string how = use_by(system, cat("/proc/", name), word, uses.complete);
    if (!how.empty()) uses.found.push_back({*pid, std::move(how)});
  }
  const auto sockets = system.read("/proc/net/unix", kMapsBytes);
  if (!sockets.ok()) uses.complete = false;
  if (sockets.ok() && contains(*sockets, word)) uses.found.push_back({0, "a socket in it is open"});
  return uses;
}

Result<std::vector<Mapped>> held_by(System& system, int64_t pid, const std::string& folder) {
  std::vector<Mapped> held;
  const auto maps = system.read(cat("/proc/", pid, "/maps"), kMapsBytes);
  if (!maps.ok()) return maps.error();
  for (const std::string_view line : split(*maps, '\n')) {
    if (!contains(line, folder)) continue;
    Mapped one = parse_map(line);
    if (below(one.path, folder)) held.push_back(std::move(one));
  }
  const auto files = system.names(cat("/proc/", pid, "/fd"));
  for (const std::string& number : files.ok() ? *files : std::vector<std::string>()) {
    auto target = system.link(cat("/proc/", pid, "/fd/", number));
    if (target.ok() && below(*target, folder)) held.push_back({std::move(*target), 0});
  }
  return held;
}

std::map<std::string, Use> used_below(System& system, const std::string& folder, int64_t self) {
  std::map<std::string, Use> used;
  const auto real = system.real(folder);
  const auto names = system.names("/proc");
  if (!real.ok() || !names.ok()) return used;
  const auto note = [&](int64_t pid, std::string_view path, const char* how) {
    const std::string_view rest = path.substr(real->size() + 1);
    used.emplace(rest.substr(0, rest.find('/')), Use{pid, how});
  };
  for (const std::string& name : *names) {
    const auto pid = parse_int(name);
    if (!pid || *pid == self) continue;
    if (const auto works = system.link(cat("/proc/", name, "/cwd")); works.ok() && below(*works, *real))
      note(*pid, *works, "works in it");
    const auto held = held_by(system, *pid, *real);
    for (const Mapped& one : held.ok() ? *held : std::vector<Mapped>())
      note(*pid, one.path, one.inode != 0 ? "maps a file of it" : "has a file of it open");
  }
  return used;
}

std::map<std::string, Use> used_or_named_below(System& system, const std::string& folder, int64_t self) {
  std::map<std::string, Use> used = used_below(system, folder, self);
  const auto real = system.real(folder);
  const auto pids = system.names("/proc");
  if (!real.ok() || !pids.ok()) return used;
  const NamesBelow names(system, folder, *real);
  for (const std::string& name : *pids) {
    const auto pid = parse_int(name);
    if (!pid || *pid == self) continue;
    const auto command = system.read(cat("/proc/", name, "/cmdline"), kLineBytes);
    if (!command.ok()) continue;
    const auto works = system.link(cat("/proc/", name, "/cwd"));
    for (const std::string_view piece : pieces_of(*command)) {
      if (std::string named = names.named_by(piece, works.ok() ? *works : ""); !named.empty())
        used.emplace(std::move(named), Use{*pid, "names it in its command line"});
    }
  }
  return used;
}

}  // namespace mw
