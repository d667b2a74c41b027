#include "sense/checkpoints/writers.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

bool has_mark(System& system, const std::string& pid, const std::string& run_folder) {
  const auto environment = system.read(cat("/proc/", pid, "/environ"), System::kFileBytes);
  const std::string marker = cat("MIDWATCH_RUN=", run_folder, std::string_view("\0", 1));
  return environment.ok() &&
         (environment->starts_with(marker) || contains(*environment, cat(std::string_view("\0", 1), marker)));
}

void read_roots(const Json& json, std::string_view key, std::set<std::string>& out) {
  const Json* list = json.find(key);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& root : list->items()) out.insert(root.string());
}

}  // namespace

std::string writers_text(const Writers& writers) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("own").begin_array();
    for (const std::string& root : writers.own) json.string(root);
    json.end_array().key("strangers").begin_array();
    for (const std::string& root : writers.strangers) json.string(root);
    json.end_array().key("named").begin_array();
    for (const std::string& root : writers.named) json.string(root);
    json.end_array().end_object();
  }
  return out;
}

Writers parse_writers(std::string_view text) {
  Writers writers;
  const auto json = Json::parse(text);
  if (!json.ok() || !json->is_object()) return writers;
  read_roots(*json, "own", writers.own);
  read_roots(*json, "strangers", writers.strangers);
  read_roots(*json, "named", writers.named);
  return writers;
}

Writers writers_below(System& system, const std::vector<std::string>& places, const CheckpointLayout& layout,
                      const std::string& run_folder) {
  Writers writers;
  std::vector<std::pair<std::string, std::string>> real;  // without links, and as it is called
  for (const std::string& place : places) {
    if (const auto path = system.real(place); path.ok()) real.emplace_back(*path, plain_path(place));
  }
  const auto pids = system.names("/proc");
  if (!pids.ok() || real.empty() || !layout.known()) return writers;
  for (const std::string& pid : *pids) {
    if (pid.empty() || pid[0] < '0' || pid[0] > '9') continue;
    for_each_open(system, pid, [&](const std::string& path, const auto& to_write) {
      for (const auto& [place, called] : real) {
        if (!lies_in(path, place)) continue;
        const std::string root = root_of(cat(called, path.substr(place.size())), layout);
        if (!root.empty() && to_write())
          (has_mark(system, pid, run_folder) ? writers.own : writers.strangers).insert(root);
      }
    });
  }
  return writers;
}

std::set<std::string> written_now(System& system, const std::vector<int64_t>& pids, const CheckpointLayout& layout) {
  std::set<std::string> folders;
  if (!layout.known()) return folders;
  for (const int64_t pid : pids) {
    for_each_open(system, cat(pid), [&](const std::string& path, const auto& to_write) {
      if (!path.starts_with("/") || path.starts_with("/proc/") || path.starts_with("/dev/")) return;
      const std::string root = root_of(path, layout);
      const size_t end = root.empty() ? std::string::npos : path.find('/', root.size() + 1);
      const bool one = !root.empty() && (end == std::string::npos ? layout.names_files() : layout.names_folders());
      if (one && to_write()) folders.insert(path.substr(0, end));
    });
  }
  return folders;
}

void note_writers(Disk& disk, const std::string& run_folder, const Writers& now) {
  const std::string path = cat(run_folder, "/", kWritersFile);
  const auto text = read_small(disk, path);
  Writers all = text.ok() ? parse_writers(*text) : Writers();
  const auto count = [&all] { return all.own.size() + all.strangers.size() + all.named.size(); };
  const size_t known = count();
  all.own.insert(now.own.begin(), now.own.end());
  all.strangers.insert(now.strangers.begin(), now.strangers.end());
  all.named.insert(now.named.begin(), now.named.end());
  if (count() != known) (void)write_durably(disk, path, writers_text(all)).ok();
}

}  // namespace mw
