#include "act/cleanup/resource_ledger.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/uses.h"
#include "read/books/engine_book.h"

namespace mw {
namespace {

constexpr size_t kMost = 4096;      // resources remembered, the newest
constexpr size_t kChecked = 20000;  // names of /dev/shm that are checked

/// In a pattern "#" stands for digits, "*" for letters, digits, "_" and "-", one or more; "?" for one of the latter.
struct Maker {
  std::string_view pattern, who;
};
constexpr Maker kMakers[] = {
    {"torch_#_#_#", "PyTorch"},              // torch_PID_RANDOM_COUNTER, ATen/MapAllocator.cpp
    {"torch_#_#", "PyTorch"},                // before 2.0
    {"psm_????????", "Python"},              // multiprocessing/shared_memory.py, without a name of the caller's
    {"sem.mp-????????", "Python"},           // multiprocessing/synchronize.py
    {"sem.loky-#-????????", "joblib"},       // joblib/externals/loky/backend/synchronize.py
    {"nccl-??????", "NCCL"},                 // misc/shmutils.cc, mkstemp
    {"plasma??????", "Ray"},                 // object_manager/plasma/dlmalloc.cc, mkstemp
    {"__KMP_REGISTERED_LIB_#_#", "OpenMP"},  // LLVM's runtime, by process and user
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

bool fits(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (name.empty()) return false;
  const bool digit = std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  switch (pattern.front()) {
    case '#':
      return digit && (fits(name.substr(1), pattern) || fits(name.substr(1), pattern.substr(1)));
    case '*':
      return is_word(name.front()) && (fits(name.substr(1), pattern) || fits(name.substr(1), pattern.substr(1)));
    case '?':
      return is_word(name.front()) && fits(name.substr(1), pattern.substr(1));
    default:
      return name.front() == pattern.front() && fits(name.substr(1), pattern.substr(1));
  }
}

bool same(const HeldResource& one, const Entry& entry) {
  return one.device == entry.device && one.inode == entry.inode && one.born_ns == entry.born_ns;
}

HeldResource resource_of(HeldResource::What what, const std::string& path, const Entry& entry,
                         const KeeperSession& session, const std::string& boot) {
  HeldResource one;
  one.what = what;
  one.folder = folder_of(path);
  one.name = basename(path);
  one.device = entry.device;
  one.inode = entry.inode;
  one.born_ns = entry.born_ns;
  one.place = session.place;
  one.boot = boot;
  return one;
}

class Search {
 public:
  Search(const ResourceDoors& doors, const std::string& run_folder, ResourceSnapshot& found)
      : doors_(doors), run_folder_(run_folder), found_(found), boot_(doors.processes.boot()) {}

  void keep_existing(const std::vector<HeldResource>& known) {
    for (const HeldResource& one : known) {
      const auto entry = doors_.system.entry(cat(one.folder, "/", one.name));
      if (entry.ok() ? same(one, *entry) : entry.error().code != Error::Code::kNotFound) found_.all.push_back(one);
    }
  }

  /// Files in shared memory that are this user's and not known yet.
  void find_new(const std::string& shared, const std::vector<uint64_t>& ignored) {
    const auto names = doors_.system.names(shared);
    size_t checked = 0;
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (maker_of(name).empty() || ++checked > kChecked) continue;
      const std::string path = cat(shared, "/", name);
      const auto entry = doors_.system.entry(path);
      if (!entry.ok() || !entry->file || entry->owner != doors_.user) continue;
      const bool known =
          std::find(ignored.begin(), ignored.end(), entry->inode) != ignored.end() ||
          std::any_of(found_.all.begin(), found_.all.end(), [&](const HeldResource& one) { return same(one, *entry); });
      if (!known) fresh_[path] = *entry;
    }
  }

  void check_processes(const std::string& shared, bool ray) {
    if (fresh_.empty() && !ray) return;
    const auto all = doors_.processes.all();
    for (const KeeperSession& session : keeper_sessions(doors_.disk, run_folder_)) {
      if (session.over || !session.kept.keeper.known() || session.kept.boot != boot_) continue;
      if (!lives(doors_.processes, session.kept.keeper)) continue;
      for (const ProcessInfo& process : descendants(all, session.kept.keeper.pid)) check(process, session, shared, ray);
    }
    for (const auto& [path, entry] : fresh_) found_.unknown.push_back(entry.inode);
    if (found_.all.size() > kMost) found_.all.erase(found_.all.begin(), found_.all.end() - kMost);
  }

 private:
  void check(const ProcessInfo& process, const KeeperSession& session, const std::string& shared, bool ray) {
    std::vector<HeldResource> found;
    if (!fresh_.empty()) {
      const auto held = held_by(doors_.system, process.id.pid, shared);
      for (const Mapped& one : held.ok() ? *held : std::vector<Mapped>()) {
        const auto entry = fresh_.find(one.path);
        if (entry == fresh_.end() || (one.inode != 0 && one.inode != entry->second.inode)) continue;
        if (!made_since(entry->second, session.kept.started)) continue;
        found.push_back(resource_of(HeldResource::What::kShared, one.path, entry->second, session, boot_));
      }
    }
    if (ray) find_sessions(process, session, found);
    // All this was read by pid: it counts only if the pid still belongs to the same process.
    if (found.empty() || !lives(doors_.processes, process.id)) return;
    for (HeldResource& one : found) {
      fresh_.erase(cat(one.folder, "/", one.name));
      remember(std::move(one));
    }
  }

  /// Sessions that a program of Ray's own runs: any other process that names a session may only be reading its logs.
  void find_sessions(const ProcessInfo& process, const KeeperSession& session, std::vector<HeldResource>& found) {
    if (process.name != "raylet" && process.name != "gcs_server") return;
    const auto words = doors_.system.read(cat("/proc/", process.id.pid, "/cmdline"), kCommandBytes);
    for (const std::string& path : words.ok() ? ray_sessions_in(*words) : std::vector<std::string>()) {
      const auto entry = doors_.system.entry(path);
      if (!entry.ok() || !entry->folder || entry->owner != doors_.user || !made_since(*entry, session.kept.started)) {
        continue;
      }
      found.push_back(resource_of(HeldResource::What::kRay, path, *entry, session, boot_));
    }
  }

  /// What existed before the keeper's command began is somebody else's, although the command holds it, too.
  static bool made_since(const Entry& entry, Time began) {
    const int64_t born = entry.born_ns != 0 ? entry.born_ns : entry.changed_ns;
    return began.known() && born + kCoarseNs >= began.ns;
  }

  void remember(HeldResource one) {
    const auto known = std::find_if(found_.all.begin(), found_.all.end(), [&one](const HeldResource& other) {
      return other.folder == one.folder && other.name == one.name;
    });
    if (known == found_.all.end()) {
      found_.all.push_back(std::move(one));
    } else {
      *known = std::move(one);  // a later attempt may use a session of Ray's again
    }
  }

  static constexpr size_t kCommandBytes = size_t{256} << 10;
  static constexpr int64_t kCoarseNs = 10'000'000;  // file systems' clock goes in the kernel's ticks

  const ResourceDoors& doors_;
  const std::string& run_folder_;
  ResourceSnapshot& found_;
  std::string boot_;
  std::map<std::string, Entry> fresh_;  // by path
};

constexpr std::string_view kWords[] = {"shared-memory", "ray-session"};  // index = HeldResource::What

}  // namespace

std::string_view maker_of(std::string_view name) {
  if (name.size() > 255) return "";
  for (const Maker& maker : kMakers) {
    if (fits(name, maker.pattern)) return maker.who;
  }
  for (const Engine& engine : built_in_engines()) {
    const auto is = [name](const std::string& pattern) { return fits(name, pattern); };
    if (std::any_of(engine.shared_memory.begin(), engine.shared_memory.end(), is)) return engine.name;
  }
  return "";
}

bool is_ray_session(std::string_view name) {
  constexpr std::string_view kShape = "session_dddd-dd-dd_dd-dd-dd_dddddd_";
  if (name.size() <= kShape.size() || name.size() > kShape.size() + 10) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(name[i])) != 0;
    // The word "session" has no d.
    if (i >= kShape.size() || kShape[i] == 'd' ? !digit : name[i] != kShape[i]) return false;
  }
  return true;
}

// "--raylet_socket_name=/tmp/ray/session_…/sockets/raylet"
std::vector<std::string> ray_sessions_in(std::string_view words) {
  std::vector<std::string> found;
  constexpr std::string_view kBegins = "/session_";
  for (size_t at = words.find(kBegins); at != std::string_view::npos; at = words.find(kBegins, at + 1)) {
    const size_t end = std::min(words.find_first_of(std::string_view("/\0 ,\"'", 6), at + 1), words.size());
    if (!is_ray_session(words.substr(at + 1, end - at - 1))) continue;
    size_t begin = at;
    while (begin > 0 && std::string_view("\0 =,\"'", 6).find(words[begin - 1]) == std::string_view::npos) --begin;
    std::string path(words.substr(begin, end - begin));
    if (path.front() == '/' && std::find(found.begin(), found.end(), path) == found.end())
      found.push_back(std::move(path));
  }
  return found;
}

Result<std::string> read_resource_ledger(Disk& disk, const std::string& run_folder) {
  auto text = read_small(disk, cat(run_folder, "/", kResourceLedgerFile));
  if (text.ok() || text.error().code != Error::Code::kNotFound) return text;
  auto old = read_small(disk, cat(run_folder, "/", kOldResourceLedgerFile));
  return old.ok() ? old : text;
}

std::string resource_ledger_text(const std::vector<HeldResource>& all) {
  std::string text;
  {
    JsonWriter json(text);
    json.begin_object().key("version").integer(1).key("all").begin_array();
    for (const HeldResource& one : all) {
      json.begin_object().key("what").string(kWords[static_cast<size_t>(one.what)]);
      json.key("folder").string(one.folder).key("name").string(one.name);
      json.key("device").integer(static_cast<int64_t>(one.device));
      json.key("inode").integer(static_cast<int64_t>(one.inode)).key("born_ns").integer(one.born_ns);
      json.key("place").string(one.place).key("boot").string(one.boot).end_object();
    }
    json.end_array().end_object();
  }
  return text;
}

Result<std::vector<HeldResource>> parse_resource_ledger(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* all = json->find("all");
  if (all == nullptr || !all->is_array()) return Error{Error::Code::kInvalid, "no list of resources", ""};
  std::vector<HeldResource> found;
  for (const Json& item : all->items()) {
    const auto word = std::find(std::begin(kWords), std::end(kWords), item.string_or("what", ""));
    if (word == std::end(kWords)) continue;  // of a newer midwatch
    HeldResource one;
    one.what = static_cast<HeldResource::What>(word - std::begin(kWords));
    one.folder = item.string_or("folder", "");
    one.name = item.string_or("name", "");
    one.device = static_cast<uint64_t>(item.integer_or("device", 0));
    one.inode = static_cast<uint64_t>(item.integer_or("inode", 0));
    one.born_ns = item.integer_or("born_ns", 0);
    one.place = item.string_or("place", "");
    one.boot = item.string_or("boot", "");
    if (one.folder.empty() || one.name.empty() || contains(one.name, "/") || one.inode == 0) {
      return Error{Error::Code::kInvalid, "a resource without its name", ""};
    }
    found.push_back(std::move(one));
  }
  return found;
}

ResourceSnapshot find_resources(const ResourceDoors& doors, const std::string& run_folder, const std::string& shared,
                                const std::vector<HeldResource>& known, const std::vector<uint64_t>& ignored,
                                bool ray) {
  ResourceSnapshot found;
  Search search(doors, run_folder, found);
  search.keep_existing(known);
  search.find_new(shared, ignored);
  search.check_processes(shared, ray);
  return found;
}

}  // namespace mw
