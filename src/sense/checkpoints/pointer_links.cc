#include "sense/checkpoints/pointer_links.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNames = 10'000;  // of one folder
constexpr size_t kRounds = 40;     // links of one chain: as many as Linux follows
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

/// Links to the targets, then links to those, and so on. A link is found once, so that a circle has an end.
class LinkChains {
 public:
  LinkChains(Disk& disk, const std::string& root, const std::set<std::string>& targets, const std::string& newest)
      : disk_(disk), root_(root), targets_(targets), newest_(newest) {}

  std::vector<PointerLink> find() {
    const std::vector<PointerLink> all = beside();
    for (const PointerLink& link : all) {
      if (auto parts = leads_to(link, root_, targets_)) add(link, std::move(*parts), nullptr);
    }
    for (size_t found = 0, round = 1; found != found_.size() && round < kRounds; ++round) {
      found = found_.size();
      for (const PointerLink& link : all) {
        if (full_.count(link.name) == 0) follow(link);
      }
    }
    return std::move(found_);
  }

 private:
  static std::string folder_in(const std::string& root, std::string_view above) {
    return above.empty() ? root : std::string(folder_of(root));
  }

  std::vector<PointerLink> beside() {
    std::vector<PointerLink> all;
    for (const std::string_view above : {std::string_view(), kAbove}) {
      const std::string folder = folder_in(root_, above);
      const auto names = disk_.list(folder);
      if (!names.ok() || names->size() > kNames) continue;
      for (const std::string& name : *names) {
        const auto text = disk_.read_link(cat(folder, "/", name));
        if (text.ok()) all.push_back({cat(above, name), *text, "", "", names_one(name)});
      }
    }
    return all;
  }

  /// Its text, where it names one of `names` in `folder`.
  std::optional<Parted> leads_to(const PointerLink& link, const std::string& folder,
                                 const std::set<std::string>& names) {
    auto parts = parted(link.before, names);
    if (!parts) return std::nullopt;
    const std::string from = folder_in(root_, link.name.starts_with(kAbove) ? kAbove : "");
    const std::string there = parts->way.starts_with('/') ? parts->way : cat(from, "/", parts->way);
    return same_folder(disk_, there, folder) ? std::move(parts) : std::nullopt;
  }

  void follow(const PointerLink& link) {
    for (const std::string_view above : {std::string_view(), kAbove}) {
      std::set<std::string> names;
      for (const PointerLink& one : found_) {
        if (one.name.starts_with(kAbove) == !above.empty()) names.insert(one.name.substr(above.size()));
      }
      auto parts = leads_to(link, folder_in(root_, above), names);
      if (!parts) continue;
      const std::string base = cat(above, parts->target);
      const Parted& on = full_.at(base);
      const bool absolute = on.way.starts_with('/');
      const auto next = std::find_if(found_.begin(), found_.end(), [&](const auto& one) { return one.name == base; });
      const PointerLink before = *next;
      return add(link, {absolute ? on.way : cat(parts->way, on.way), on.target, cat(on.rest, parts->rest)}, &before);
    }
  }

  /// `next`: the link that it leads to, if it is one.
  void add(PointerLink link, Parted parts, const PointerLink* next) {
    // It may be of a kind that not all of them hold.
    const bool lies_there = parts.rest.empty() || disk_.info(cat(root_, "/", newest_, parts.rest)).ok();
    if (!newest_.empty() && lies_there) link.mend = cat(parts.way, newest_, parts.rest);
    if (next != nullptr && !link.mend.empty() && !(next->after.empty() && next->through.empty())) {
      link.through = next->name;
    } else if (!link.certain) {
      link.after = link.mend;
    }
    full_[link.name] = std::move(parts);
    found_.push_back(std::move(link));
  }

  Disk& disk_;
  const std::string& root_;
  const std::set<std::string>& targets_;
  const std::string& newest_;
  std::vector<PointerLink> found_;
  std::map<std::string, Parted> full_;  // by name: the text with that of the links that it leads to in their place
};

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
  return LinkChains(disk, root, targets, newest).find();
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
