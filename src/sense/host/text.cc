#include "base/text.h"

#include <algorithm>

#include "base/numbers.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

/// "\040" and the like, as the kernel writes spaces in paths.
std::string unescape(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && digit(text[i + 1]) && digit(text[i + 2]) && digit(text[i + 3])) {
      out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

bool lies_under(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

int64_t value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.substr(0, key.size()) != key || line.size() <= key.size()) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.front() != ' ' && rest.front() != ':') continue;
    if (rest.front() == ':') rest.remove_prefix(1);
    rest = trim(rest);
    const bool kilo = rest.size() > 3 && rest.substr(rest.size() - 3) == " kB";
    const auto number = parse_int(trim(kilo ? rest.substr(0, rest.size() - 3) : rest));
    if (!number) return -1;
    return kilo ? *number * 1024 : *number;
  }
  return -1;
}

std::string mount_of(std::string_view mounts, std::string_view path) {
  std::string best;
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 2) continue;
    std::string place = unescape(words[1]);
    if (lies_under(path, place) && place.size() >= best.size()) best = std::move(place);
  }
  return best;
}

std::string cgroup_of(std::string_view text, std::string_view controller) {
  for (const std::string_view line : split(text, '\n')) {  // "4:memory:/a/b", "0::/a/b"
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto names = split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) return std::string(line.substr(second + 1));
  }
  return "";
}

}  // namespace mw::host
