#include <set>

#include "base/text.h"
#include "platform/system.h"

namespace mw {
namespace {

Error missing(const std::string& path) { return {Error::Code::kNotFound, cat(path, ": no such file"), ""}; }

}  // namespace

Result<std::string> FakeSystem::read(const std::string& path, size_t limit) {
  const auto found = files.find(path);
  if (found == files.end()) return missing(path);
  return found->second.substr(0, limit);
}

Result<std::vector<std::string>> FakeSystem::names(const std::string& folder) {
  const std::string prefix = folder.back() == '/' ? folder : folder + "/";
  std::set<std::string> found;
  for (auto at = files.lower_bound(prefix); at != files.end() && at->first.rfind(prefix, 0) == 0; ++at) {
    const std::string rest = at->first.substr(prefix.size());
    found.insert(rest.substr(0, rest.find('/')));
  }
  if (found.empty()) return missing(folder);
  return std::vector<std::string>(found.begin(), found.end());
}

Result<std::string> FakeSystem::link(const std::string& path) { return read(path, kFileBytes); }

Result<size_t> FakeSystem::count(const std::string& folder) {
  const auto found = names(folder);
  if (!found.ok()) return found.error();
  return found->size();
}

Result<Entry> FakeSystem::entry(const std::string& path) {
  if (const auto made = entries.find(path); made != entries.end()) return made->second;
  Entry found;
  found.name = basename(path);
  if (const auto file = files.find(path); file != files.end()) {
    found.file = true;
    found.bytes = static_cast<int64_t>(file->second.size());
    return found;
  }
  if (!names(path).ok()) return missing(path);
  found.folder = true;
  return found;
}

Result<Space> FakeSystem::space(const std::string& path) {
  const Space* best = nullptr;
  size_t length = 0;
  for (const auto& [folder, space] : spaces) {
    if (path.rfind(folder, 0) != 0 || folder.size() < length) continue;
    best = &space;
    length = folder.size();
  }
  if (best == nullptr) return missing(path);
  return *best;
}

Result<std::string> FakeSystem::real(const std::string& path) { return path; }

Result<std::vector<std::string>> FakeSystem::kernel_lines() { return std::exchange(log, {}); }

}  // namespace mw
