#include "sense/checkpoints/pointer_links.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNames = 10'000;  // of one folder
constexpr std::string_view kAbove = "../";

/// A name by which a person would not expect "the newest": of one certain step, or of the best.
bool names_one(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {"best", "final",  "good",    "keep",
                                                             "min",  "lowest", "highest", "max"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string word;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] >= '0' && name[i] <= '9') return true;
    if (i < name.size() && letter(name[i])) {
      word += static_cast<char>(name[i] | 0x20);
      continue;
    }
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
    word.clear();
  }
  return false;
}

/// "WAY/TARGET/REST": what leads to the target's folder, the target, and the file in it.
struct Parted {
  std::string way, target, rest;
};

/// By the last of the targets that it names.
std::optional<Parted> parted(std::string_view text, const std::set<std::string>& targets) {
  while (text.ends_with('/')) text.remove_suffix(1);
  for (size_t end = text.size(); end > 0;) {
    const size_t slash = text.rfind('/', end - 1);
    const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string name(text.substr(begin, end - begin));
    const std::string_view rest = text.substr(end);
    if (contains(cat(rest, "/"), "/../")) return std::nullopt;
    if (targets.count(name) != 0) return Parted{std::string(text.substr(0, begin)), name, std::string(rest)};
    end = slash == std::string_view::npos ? 0 : slash;
  }
  return std::nullopt;
}

bool same_folder(Disk& disk, const std::string& one, const std::string& other) {
  const auto a = disk.info(one), b = disk.info(other);
  return a.ok() && b.ok() && a->device == b->device && a->inode == b->inode;
}

}  // namespace

bool is_link_name(const std::string& name) {
  const std::string_view bare = std::string_view(name).substr(name.starts_with(kAbove) ? kAbove.size() : 0);
  return !bare.empty() && bare != "." && bare != ".." && bare.find('/') == std::string_view::npos;
}

std::string path_of_link(const std::string& root, const PointerLink& link) {
  return link.name.starts_with(kAbove) ? cat(folder_of(root), "/", link.name.substr(kAbove.size()))
                                       : cat(root, "/", link.name);
}

std::vector<PointerLink> links_to(Disk& disk, const std::string& root, const std::set<std::string>& targets,
                                  const std::string& newest) {
  std::vector<PointerLink> found;
  for (const std::string_view above : {std::string_view(), kAbove}) {
    const std::string folder = above.empty() ? root : folder_of(root);
    const auto names = disk.list(folder);
    if (!names.ok() || names->size() > kNames) continue;
    for (const std::string& name : *names) {
      const auto text = disk.read_link(cat(folder, "/", name));
      if (!text.ok()) continue;  // no link
      const auto parts = parted(*text, targets);
      if (!parts) continue;
      const std::string& way = parts->way;
      const std::string there = way.starts_with('/') ? way : cat(folder, "/", way);
      if (!same_folder(disk, there, root)) continue;
      const bool certain = names_one(name);
      // It may be of a kind that not all of them hold.
      const bool lies_there = parts->rest.empty() || disk.info(cat(root, "/", newest, parts->rest)).ok();
      const bool leads_on = !newest.empty() && !certain && lies_there;
      found.push_back({cat(above, name), *text, leads_on ? cat(way, newest, parts->rest) : "", "", certain});
    }
  }
  return found;
}

std::string led_to(const std::string& text, const std::set<std::string>& targets, const std::string& newest) {
  const auto parts = parted(text, targets);
  return parts ? cat(parts->way, newest, parts->rest) : text;
}

Result<bool> lead_link(Disk& disk, const std::string& path, const std::string& before, const std::string& after) {
  const auto now = disk.read_link(path);
  if (!now.ok()) return now.error();
  if (*now != before) return *now == after;
  const std::string part = cat(folder_of(path), "/.", basename(path), ".midwatch");
  if (disk.read_link(part).ok()) (void)disk.remove(part).ok();  // of one that was cut short
  MW_TRY(disk.make_link(after, part));
  const auto done = disk.rename(part, path);
  if (done.ok()) return true;
  (void)disk.remove(part).ok();
  return done.error();
}

}  // namespace mw
