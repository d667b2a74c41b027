#include "act/supervise/strangers.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace mw {
namespace {

constexpr uint64_t kOpenedTogether = 100;  // clock ticks: a second, within which a script opens what it needs
constexpr std::string_view kMidwatch = "midwatch";

/// By the first 15 bytes of the program's name, which is all that the kernel keeps.
bool is_terminal_server(std::string_view name) {
  constexpr std::array<std::string_view, 15> kServers = {
      "tmux: server", "tmux",        "screen", "SCREEN", "zellij",      "sshd",        "sshd-session",   "dropbear",
      "dtach",        "mosh-server", "abduco", "ttyd",   "code-server", "jupyter-lab", "jupyter-noteboo"};
  return std::find(kServers.begin(), kServers.end(), name) != kServers.end();
}

using Members = std::map<int64_t, const ProcessInfo*>;

const ProcessInfo* parent_of(const Members& members, const ProcessInfo& process) {
  const auto found = members.find(process.parent);
  return found == members.end() || found->first == process.id.pid ? nullptr : found->second;
}

/// The terminal servers above `process`, the nearest first.
std::vector<const ProcessInfo*> servers_above(const Members& members, const ProcessInfo& process) {
  std::vector<const ProcessInfo*> servers;
  const ProcessInfo* at = parent_of(members, process);
  while (at != nullptr && is_terminal_server(at->name) && servers.size() < members.size()) {
    servers.push_back(at);
    at = parent_of(members, *at);
  }
  return servers;
}

/// Adds to `grown` who descends from one of them. Numbers wrap around, so a child may have a smaller one than its
/// parent.
void add_descendants(const Members& members, std::set<int64_t>& grown) {
  for (bool more = !grown.empty(); more;) {
    more = false;
    for (const auto& [pid, process] : members) {
      if (grown.count(process->parent) != 0) more = grown.insert(pid).second || more;
    }
  }
}

}  // namespace

Strangers::Found Strangers::find(const Among& among, bool& nests) const {
  Members members;
  for (const ProcessInfo& process : among.all) {
    if (among.members.count(process.id.pid) != 0 && process.id != among.keeper) members[process.id.pid] = &process;
  }
  Found found;
  for (const auto& [pid, process] : members) {
    if (is_known(*process)) found.opened.insert(pid);
    if (is_terminal_server(process->name)) continue;
    const auto servers = servers_above(members, *process);
    if (servers.empty() || process->id.start <= servers.back()->id.start + kOpenedTogether) continue;
    found.opened.insert(pid);
    for (const ProcessInfo* server : servers) found.servers.insert(server->id.pid);
  }
  add_descendants(members, found.opened);
  std::set<int64_t> commands;
  if (members.count(among.child.pid) != 0) commands.insert(among.child.pid);
  add_descendants(members, commands);
  const auto child = members.find(among.child.pid);
  const int64_t session = child == members.end() ? among.child.pid : child->second->session;
  // One that the command runs is in its session; one of another was put into a server of jobs that the command left in
  // the background, by whoever came.
  const auto runs_midwatch = [&](const ProcessInfo& process) {
    return process.name == kMidwatch && process.id != among.child && found.opened.count(process.id.pid) == 0;
  };
  nests = nests || std::any_of(commands.begin(), commands.end(), [&](int64_t pid) {
            return runs_midwatch(*members[pid]) && members[pid]->session == session;
          });
  if (nests) return found;
  for (const int64_t pid : commands) {
    if (runs_midwatch(*members[pid])) found.opened.insert(pid);
  }
  for (const auto& [pid, process] : members) {
    if (process->id == among.child || found.opened.count(pid) != 0 || !among.carries_further(*process)) continue;
    found.opened.insert(pid);
    const ProcessInfo* parent = parent_of(members, *process);
    if (parent != nullptr && parent->name == kMidwatch && parent->id != among.child)
      found.opened.insert(parent->id.pid);
  }
  add_descendants(members, found.opened);
  return found;
}

std::set<int64_t> Strangers::in(const Among& among) const {
  bool nests = nests_;
  Found found = find(among, nests);
  found.opened.merge(found.servers);
  return std::move(found.opened);
}

void Strangers::learn(const Among& among) {
  const Found found = find(among, nests_);
  std::set<std::pair<int64_t, uint64_t>> now;
  for (const ProcessInfo& process : among.all) {
    if (found.opened.count(process.id.pid) != 0) now.insert({process.id.pid, process.id.start});
  }
  known_ = std::move(now);
}

}  // namespace mw
