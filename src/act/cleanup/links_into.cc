#include "act/cleanup/links_into.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kBeyond = 20'000;  // entries of folders beyond the roots
constexpr int kDepth = 64, kDepthBeyond = 8;
constexpr int kHops = 40;  // links of one path: as many as Linux follows

/// The disk says that there is nothing, or nothing for us: that is an answer.
bool answers(const Error& error) {
  return error.code == Error::Code::kNotFound || error.code == Error::Code::kInvalid ||
         error.code == Error::Code::kDenied;
}

class LinkWalk {
 public:
  LinkWalk(Disk& disk, System& system) : disk_(disk), system_(system) {}

  Result<std::vector<LinkInto>> find(const std::vector<std::string>& roots, const std::vector<std::string>& declared) {
    std::vector<std::string> deep;
    for (const std::string& root : roots) {
      auto real = system_.real(root);
      if (!real.ok()) return real.error();
      deep.push_back(*real);
      targets_.emplace_back(std::move(*real), root);
    }
    for (const std::string& root : declared) {
      auto real = system_.real(root);
      if (!real.ok() && !answers(real.error())) return real.error();
      if (real.ok()) deep.push_back(std::move(*real));
    }
    for (const std::vector<std::string>* named : {&roots, &declared}) {
      for (const std::string& root : *named) MW_TRY(above(std::string(folder_of(root))));
    }
    std::sort(deep.begin(), deep.end());
    deep.erase(std::unique(deep.begin(), deep.end()), deep.end());
    for (const std::string& folder : deep) {
      const bool inner = std::any_of(deep.begin(), deep.end(), [&folder](const std::string& outer) {
        return outer != folder && is_in(folder, outer);  // it is walked with that one
      });
      if (!inner) MW_TRY(walk({folder, folder, 0, false}));
    }
    return std::vector<LinkInto>(found_.begin(), found_.end());
  }

 private:
  struct Place {
    std::string path, real;
    int depth = 0;
    bool beyond = false;
  };

  /// Links that lie directly in it; below it there may be anything.
  Result<void> above(const std::string& folder) {
    const auto real = system_.real(folder);
    const auto names = disk_.list(folder);
    if (!names.ok() && !answers(names.error())) return names.error();
    if (!real.ok() && !answers(real.error())) return real.error();
    if (!names.ok() || !real.ok()) return {};
    for (const std::string& name : *names) {
      const auto text = system_.link(below(folder, name));
      if (!text.ok() && !answers(text.error())) return text.error();
      if (text.ok()) MW_TRY(follow({below(folder, name), *real, 0, true}, *text, false));
    }
    return {};
  }

  Result<void> walk(const Place& place) {
    const auto names = disk_.list(place.path);
    if (!names.ok()) return answers(names.error()) ? Result<void>() : Result<void>(names.error());
    for (const std::string& name : *names) {
      if (name.starts_with(".midwatch")) continue;
      if (place.beyond && ++beyond_ > kBeyond) return {};
      if (!place.beyond && ++entries_ > kLinkEntries) {
        return Error{Error::Code::kLimit,
                     cat("more than ", kLinkEntries, " files are in the folders of checkpoints, of which any may be a ",
                         "link into one"),
                     ""};
      }
      Place next{below(place.path, name), below(place.real, name), place.depth + 1, place.beyond};
      const auto text = system_.link(next.path);
      if (!text.ok() && !answers(text.error())) return text.error();
      if (text.ok()) {
        next.real = place.real;
        MW_TRY(follow(next, *text, true));
        continue;
      }
      if (place.depth >= (place.beyond ? kDepthBeyond : kDepth)) continue;
      const auto info = disk_.info(next.path);
      if (!info.ok() && !answers(info.error())) return info.error();
      if (info.ok() && info->kind == FileInfo::Kind::kFolder) MW_TRY(walk(next));
    }
    return {};
  }

  /// `link.real`: the folder that it lies in. `into_folders`: where it leads to a folder beyond the roots, what lies
  /// there is read, too.
  Result<void> follow(const Place& link, const std::string& text, bool into_folders) {
    std::vector<std::string> through;
    std::string here = link.real;
    int hops = 0;
    MW_TRY(resolve(text, here, hops, through));
    if (hops > kHops) return {};  // it leads round in a circle
    const auto target = system_.real(link.path);
    if (!target.ok()) return answers(target.error()) ? Result<void>() : Result<void>(target.error());
    through.push_back(*target);
    for (const std::string& one : through) add(link.path, one);
    if (!into_folders || link.depth > kDepthBeyond) return {};
    const auto touches = [&target](const auto& root) {
      return is_in(root.first, *target) || is_in(*target, root.first);
    };
    if (std::any_of(targets_.begin(), targets_.end(), touches)) return {};
    const auto info = disk_.info(*target);
    if (!info.ok() && !answers(info.error())) return info.error();
    if (!info.ok() || info->kind != FileInfo::Kind::kFolder) return {};
    return walk({link.path, *target, link.depth + 1, true});
  }

  /// All paths by which `text` leads from `here`, component by component, with those of the links on its way.
  Result<void> resolve(const std::string& text, std::string& here, int& hops, std::vector<std::string>& through) {
    if (++hops > kHops) return {};
    if (text.starts_with('/')) here.clear();
    for (const std::string_view part : split(text, '/')) {
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        here = here.substr(0, std::min(here.rfind('/'), here.size()));
        continue;
      }
      std::string folder = here;
      here = below(here, std::string(part));
      through.push_back(here);
      const auto next = system_.link(here);
      if (!next.ok() && !answers(next.error())) return next.error();
      if (!next.ok()) continue;
      here = std::move(folder);
      MW_TRY(resolve(*next, here, hops, through));
    }
    return {};
  }

  /// `path`: without links in its folders.
  void add(const std::string& link, const std::string& path) {
    const std::string from = entry_around(link);
    for (const auto& [real, named] : targets_) {
      const std::string name = first_below(path, real);
      if (name.empty() || cat(named, "/", name) == from) continue;
      found_.insert({cat(named, "/", name), from, link});
    }
  }

  /// The entry of the innermost root below which `path` lies.
  std::string entry_around(const std::string& path) const {
    std::string found;
    size_t longest = 0;
    for (const auto& [real, named] : targets_) {
      const std::string name = first_below(path, real);
      if (name.empty() || path.size() == real.size() + 1 + name.size() || real.size() < longest) continue;
      longest = real.size();
      found = cat(named, "/", name);
    }
    return found;
  }

  static std::string first_below(const std::string& path, const std::string& folder) {
    if (path == folder || !is_in(path, folder)) return "";
    const std::string rest = path.substr(folder.size() + 1);
    return rest.substr(0, rest.find('/'));
  }

  static bool is_in(const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(cat(folder, "/"));
  }

  static std::string below(const std::string& folder, const std::string& name) {
    return cat(folder == "/" ? "" : folder, "/", name);
  }

  Disk& disk_;
  System& system_;
  std::vector<std::pair<std::string, std::string>> targets_;  // real paths of the roots, and their names
  std::set<LinkInto> found_;
  size_t entries_ = 0, beyond_ = 0;
};

}  // namespace

Result<std::vector<LinkInto>> links_into(Disk& disk, System& system, const std::vector<std::string>& roots,
                                         const std::vector<std::string>& declared) {
  return LinkWalk(disk, system).find(roots, declared);
}

}  // namespace mw
