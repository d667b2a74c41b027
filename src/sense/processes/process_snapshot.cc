#include "sense/processes/process_snapshot.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/processes/ranks.h"
#include "sense/processes/recognise.h"
#include "sense/processes/stat_field.h"

namespace mw::components {
namespace {

constexpr size_t kStatBytes = 4096, kSmallBytes = 512, kStackBytes = 4096;
constexpr size_t kTableBytes = size_t{1} << 20;  // of a /proc/net/tcp
constexpr size_t kDescriptors = 4096;            // of a process
constexpr size_t kStacks = 64;                   // threads whose kernel stack is read
constexpr size_t kInTree = 400;                  // processes in the list
constexpr size_t kAsked = 64;                    // processes that are asked where they listen
constexpr size_t kNameBytes = 80;
constexpr size_t kUserField = 14, kSystemField = 15;  // of /proc/PID/stat: ticks of processor time

struct Known {
  long number;
  std::string_view name;
  bool of_file;  // its first argument is a descriptor
};

// Where threads wait, and what they spend long in.
constexpr std::array kCalls = {
    Known{SYS_read, "read", true},
    Known{SYS_readv, "readv", true},
    Known{SYS_pread64, "pread", true},
    Known{SYS_write, "write", true},
    Known{SYS_writev, "writev", true},
    Known{SYS_pwrite64, "pwrite", true},
    Known{SYS_recvfrom, "recvfrom", true},
    Known{SYS_recvmsg, "recvmsg", true},
    Known{SYS_sendto, "sendto", true},
    Known{SYS_sendmsg, "sendmsg", true},
    Known{SYS_connect, "connect", true},
    Known{SYS_accept, "accept", true},
    Known{SYS_accept4, "accept", true},
    Known{SYS_fsync, "fsync", true},
    Known{SYS_fdatasync, "fdatasync", true},
    Known{SYS_flock, "flock", true},
    Known{SYS_fcntl, "fcntl", true},
    Known{SYS_ioctl, "ioctl", true},
    Known{SYS_getdents64, "getdents", true},
    Known{SYS_futex, "futex", false},
    Known{SYS_ppoll, "poll", false},
    Known{SYS_pselect6, "select", false},
    Known{SYS_epoll_pwait, "epoll_wait", false},
    Known{SYS_wait4, "wait4", false},
    Known{SYS_waitid, "waitid", false},
    Known{SYS_nanosleep, "nanosleep", false},
    Known{SYS_clock_nanosleep, "nanosleep", false},
    Known{SYS_rt_sigtimedwait, "sigwait", false},
    Known{SYS_rt_sigsuspend, "sigsuspend", false},
    Known{SYS_semtimedop, "semop", false},
    Known{SYS_openat, "open", false},
    Known{SYS_newfstatat, "stat", false},
    Known{SYS_statx, "stat", false},
    Known{SYS_msync, "msync", false},
    Known{SYS_munmap, "munmap", false},
    Known{SYS_mmap, "mmap", false},
    Known{SYS_exit_group, "exit", false},
#ifdef SYS_poll  // not on every machine
    Known{SYS_poll, "poll", false},
    Known{SYS_select, "select", false},
    Known{SYS_epoll_wait, "epoll_wait", false},
    Known{SYS_pause, "pause", false},
    Known{SYS_open, "open", false},
    Known{SYS_stat, "stat", false},
#endif
};

std::string small(System& system, const std::string& path, size_t limit = kSmallBytes) {
  const auto text = system.read(path, limit);
  return text.ok() ? std::string(trim(*text)) : "";
}

/// Of the program's words, what distinguishes it from others: the script or module rather than its interpreter.
std::string label_of(std::string_view name, const std::vector<std::string>& words) {
  if (const Recognised known = recognise(name, words); !known.kind.empty()) return known.label;
  if (words.empty()) return std::string(name);
  const std::string_view program = basename(words.front());
  if (program.rfind("python", 0) != 0 && !is_shell(program)) return std::string(name);
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-c") break;
    if (words[i] == "-m") return i + 1 < words.size() ? words[i + 1] : std::string(name);
    if (words[i].front() != '-') return std::string(basename(words[i]));
  }
  return std::string(name);
}

std::string place_of(int64_t pid) { return cat("/proc/", pid); }

int64_t ticks_of(std::string_view stat) { return stat_field(stat, kUserField) + stat_field(stat, kSystemField); }

std::map<uint64_t, Connection> table_of(System& system, const std::string& place) {
  std::map<uint64_t, Connection> all;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {  // the process's own view: it may have its own network
    const auto text = system.read(place + table, kTableBytes);
    if (text.ok()) all.merge(connections(*text));
  }
  return all;
}

/// What the descriptor's link says, in words.
std::string thing_of(const std::string& link, const std::map<uint64_t, Connection>& sockets) {
  if (const uint64_t inode = socket_inode(link); inode != 0) {
    const auto known = sockets.find(inode);
    if (known == sockets.end()) return "a local socket";
    const Connection& one = known->second;
    return cat(one.state == "LISTEN" ? one.local : one.peer, " (", one.state, ")");
  }
  if (link.rfind("pipe:", 0) == 0) return "a pipe";
  return clip(sanitize_utf8(link), 200);
}

ThreadSnapshot snapshot_thread(System& system, const std::string& place, int64_t id, bool stack) {
  ThreadSnapshot snapshot;
  snapshot.id = id;
  const auto stat = system.read(place + "/stat", kStatBytes);
  const auto info = stat.ok() ? parse_process_stat(*stat) : Result<ProcessInfo>(stat.error());
  if (!info.ok()) return snapshot;
  snapshot.name = sanitize_utf8(info->name);
  snapshot.state = info->state;
  snapshot.ticks = ticks_of(*stat);
  snapshot.kernel = clip(sanitize_utf8(small(system, place + "/wchan")), kNameBytes);
  if (snapshot.kernel == "0") snapshot.kernel.clear();
  snapshot.call = call_of(small(system, place + "/syscall"));
  if (stack) snapshot.stack = sanitize_utf8(small(system, place + "/stack", kStackBytes));
  return snapshot;
}

void add_threads(System& system, const std::string& place, ProcessSnapshot& snapshot) {
  const auto names = system.names(place + "/task");
  if (!names.ok()) return;
  std::vector<int64_t> ids;
  for (const std::string& name : *names) {
    if (const auto id = parse_int(name); id && *id > 0) ids.push_back(*id);
  }
  const int64_t main = snapshot.info.id.pid;
  std::sort(ids.begin(), ids.end(),
            [main](int64_t a, int64_t b) { return std::pair(a != main, a) < std::pair(b != main, b); });
  snapshot.threads = ids.size();
  for (size_t i = 0; i < ids.size() && i < kThreads; ++i) {
    snapshot.thread_snapshots.push_back(snapshot_thread(system, cat(place, "/task/", ids[i]), ids[i], i < kStacks));
  }
}

void add_files(System& system, const std::string& place, ProcessSnapshot& snapshot) {
  const auto sockets = table_of(system, place);
  const auto names = system.names(place + "/fd");
  if (!names.ok()) return;
  snapshot.files = names->size();
  std::map<int64_t, std::string> things;
  for (size_t i = 0; i < names->size() && i < kDescriptors; ++i) {
    const auto link = system.link(cat(place, "/fd/", (*names)[i]));
    if (!link.ok() || link->empty()) continue;
    if (const auto known = sockets.find(socket_inode(*link)); known != sockets.end()) {
      snapshot.connections.push_back(known->second);
    }
    if (const auto number = parse_int((*names)[i]); number) things[*number] = thing_of(*link, sockets);
  }
  for (ThreadSnapshot& thread : snapshot.thread_snapshots) {
    if (const auto known = things.find(thread.call.descriptor); known != things.end()) thread.on = known->second;
  }
}

ProcessSnapshot snapshot_of(System& system, const ProcessInfo& info, std::string_view stat) {
  ProcessSnapshot snapshot;
  snapshot.info = info;
  snapshot.ticks = ticks_of(stat);
  const std::string place = place_of(info.id.pid);
  add_threads(system, place, snapshot);
  add_files(system, place, snapshot);
  // The kernel may wait for a lock of the process's memory before it gives its command line.
  const bool blocked = std::any_of(snapshot.thread_snapshots.begin(), snapshot.thread_snapshots.end(),
                                   [](const auto& one) { return one.state == 'D'; });
  const auto words = words_of(blocked ? "" : small(system, place + "/cmdline", kStatBytes));
  snapshot.label = clip(sanitize_utf8(label_of(info.name, words)), kNameBytes);
  return snapshot;
}

struct Member {
  ProcessInfo info;
  std::string stat;
};

/// The run's processes by pid; those that only hold them and the dead left out.
std::map<int64_t, Member> members_of(System& system, const Suspicion& suspicion) {
  std::map<int64_t, Member> all, ours;
  const auto names = system.names("/proc");
  std::vector<ProcessInfo> infos;
  for (const std::string& entry : names.ok() ? *names : std::vector<std::string>()) {
    const auto pid = parse_int(entry);
    if (!pid || *pid <= 2) continue;
    auto stat = system.read(place_of(*pid) + "/stat", kStatBytes);
    const auto info = stat.ok() ? parse_process_stat(*stat) : Result<ProcessInfo>(stat.error());
    if (!info.ok() || info->parent == 2) continue;
    infos.push_back(*info);
    all[*pid] = {*info, std::move(*stat)};
  }
  const auto take = [&](int64_t pid) {
    if (const auto found = all.find(pid); found != all.end() && found->second.info.state != 'X') ours.insert(*found);
  };
  for (const ProcessInfo& info : descendants(infos, suspicion.root)) take(info.id.pid);
  if (suspicion.root_too) take(suspicion.root);
  for (const int64_t part : suspicion.of) {
    if (part <= 2) continue;
    take(part);
    for (const ProcessInfo& info : descendants(infos, part)) take(info.id.pid);
  }
  for (const ProcessInfo& info : infos) {
    if (suspicion.session > 0 && info.session == suspicion.session) take(info.id.pid);
  }
  if (!suspicion.root_too) ours.erase(suspicion.root);
  return ours;
}

bool listens_at(System& system, int64_t pid, const std::vector<std::string>& addresses) {
  const auto port = [](const std::string& address) {
    return address.substr(std::min(address.rfind(':'), address.size()));
  };
  for (const std::string& own : addresses_of(system, pid)) {
    for (const std::string& address : addresses) {
      if (port(own) == port(address)) return true;
    }
  }
  return false;
}

std::string tree_line(const Member& member, System& system) {
  static constexpr std::string_view kHead = "  ";
  const std::string kernel = clip(sanitize_utf8(small(system, place_of(member.info.id.pid) + "/wchan")), kNameBytes);
  return cat(kHead, member.info.id.pid, " (of ", member.info.parent, ") ", std::string(1, member.info.state), " ",
             sanitize_utf8(member.info.name), kernel.empty() || kernel == "0" ? "" : cat(", ", kernel), "\n");
}

/// Processes by urgency; 0 in front: one in trouble.
using Ranked = std::vector<std::pair<int, const Member*>>;

/// The ranks of the trainer: processes of one name and one parent that have done as much work as each other (half of
/// the most, at least); of several such groups the one that has done the most in all.
std::vector<int64_t> ranks_among(const Ranked& ranked) {
  std::map<std::pair<int64_t, std::string>, std::vector<const Member*>> groups;
  for (const auto& [order, member] : ranked) {
    if (order > 0) groups[{member->info.parent, member->info.name}].push_back(member);
  }
  std::vector<int64_t> most;
  int64_t most_ticks = -1;
  for (const auto& [key, members] : groups) {
    const int64_t least = ticks_of(members.front()->stat) / 2;  // they are sorted
    std::vector<int64_t> pids;
    int64_t ticks = 0;
    for (const Member* member : members) {
      if (ticks_of(member->stat) < least) continue;
      pids.push_back(member->info.id.pid);
      ticks += ticks_of(member->stat);
    }
    if (pids.size() < kFewestRanks || ticks <= most_ticks) continue;
    most = std::move(pids);
    most_ticks = ticks;
  }
  return most;
}

/// The rank that does something else than most moves to the front of what is not in trouble. Returns in what it
/// differs, by pid.
std::map<int64_t, std::string> put_first(System& system, Ranked& ranked) {
  std::map<int64_t, std::string> unlike;
  const Ranks ranks = compare_ranks(system, ranks_among(ranked));
  for (const int64_t pid : ranks.odd) {
    unlike[pid] = cat("unlike ", ranks.alike, " other processes like it, which ", ranks.doing);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&unlike](const auto& a, const auto& b) {
    const auto key = [&unlike](const auto& one) {
      return 2 * one.first - static_cast<int>(unlike.count(one.second->info.id.pid));
    };
    return key(a) < key(b);
  });
  return unlike;
}

}  // namespace

Call call_of(std::string_view text) {
  const auto words = split(trim(text), ' ');
  const auto number = parse_int(words.front());
  if (!number || *number < 0) return {};  // "running", or "-1": it sleeps in no call
  for (const Known& known : kCalls) {
    if (known.number != *number) continue;
    Call call{std::string(known.name), -1};
    if (!known.of_file || words.size() < 2 || words[1].substr(0, 2) != "0x" || words[1].size() > 10) return call;
    int64_t value = 0;
    for (const char c : words[1].substr(2)) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) return call;
      value = value * 16 + digit;
    }
    call.descriptor = value;
    return call;
  }
  return {cat("system call ", *number), -1};
}

RunSnapshot snapshot_run(System& system, const Suspicion& suspicion) {
  RunSnapshot run;
  const auto members = members_of(system, suspicion);
  Ranked ranked, shells;
  size_t listed = 0, asked = 0;
  for (const auto& [pid, member] : members) {
    if (++listed <= kInTree) run.tree += tree_line(member, system);
    const bool named = std::find(suspicion.of.begin(), suspicion.of.end(), pid) != suspicion.of.end();
    const bool listens = !named && !suspicion.at.empty() && ++asked <= kAsked && listens_at(system, pid, suspicion.at);
    if (member.info.state == 'Z') continue;
    (is_shell(member.info.name) && !named ? shells : ranked).emplace_back(named || listens ? 0 : 1, &member);
  }
  if (listed > kInTree) run.tree += cat("  and ", listed - kInTree, " more\n");
  if (ranked.empty()) ranked = std::move(shells);  // they wait for the others, where there are any
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, -ticks_of(a.second->stat)) < std::pair(b.first, -ticks_of(b.second->stat));
  });
  auto unlike = put_first(system, ranked);
  for (size_t i = 0; i < ranked.size() && i < kSnapshots; ++i) {
    const Member& one = *ranked[i].second;
    run.suspects.push_back(snapshot_of(system, one.info, one.stat));
    run.suspects.back().among = unlike[one.info.id.pid];
  }
  return run;
}

std::optional<ProcessSnapshot> snapshot_process(System& system, const ProcessId& id) {
  const auto stat = system.read(place_of(id.pid) + "/stat", kStatBytes);
  const auto info = stat.ok() ? parse_process_stat(*stat) : Result<ProcessInfo>(stat.error());
  if (!info.ok() || !(info->id == id) || info->state == 'Z' || info->state == 'X') return std::nullopt;
  return snapshot_of(system, *info, *stat);
}

}  // namespace mw::components
