// What was seen of a process, in words.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "sense/processes/process_snapshot.h"

namespace mw::components {
namespace {

constexpr size_t kPeersNamed = 3;
constexpr double kNoWork = 0.005;  // processors; less is stated as none

std::string count(size_t number, std::string_view what) { return cat(number, " ", what, number == 1 ? "" : "s"); }

/// "recvfrom on 127.0.0.1:8000 (ESTABLISHED)", the kernel's function where the call may not be seen, or "".
std::string waits_in(const ThreadSnapshot& thread) {
  if (thread.call.name.empty()) return thread.kernel;
  return cat(thread.call.name, thread.on.empty() ? "" : cat(" on ", thread.on));
}

std::string main_words(const ThreadSnapshot& thread) {
  const std::string in = waits_in(thread);
  switch (thread.state) {
    case 'R':
      return "the main thread runs";
    case 'D':
      return cat("the main thread waits for a device or a disk (state D)", in.empty() ? "" : cat(" in ", in),
                 thread.kernel.empty() || thread.kernel == in ? "" : cat(", ", thread.kernel));
    case 'T':
      return "stopped (SIGSTOP)";
    case 't':
      return "stopped by a debugger";
    case 'Z':
      return "its main thread has ended";
    default:
      return in.empty() ? "the main thread sleeps" : cat("the main thread waits in ", in);
  }
}

/// Of the threads beside the main one, those that do something else than sleep.
std::string other_words(const ProcessSnapshot& snapshot) {
  size_t run = 0, blocked = 0;
  for (size_t i = 1; i < snapshot.thread_snapshots.size(); ++i) {
    run += snapshot.thread_snapshots[i].state == 'R';
    blocked += snapshot.thread_snapshots[i].state == 'D';
  }
  return cat(
      run > 0 ? cat(", ", run, run == 1 ? " other runs" : " others run") : "",
      blocked > 0 ? cat(", ", blocked, blocked == 1 ? " other waits" : " others wait", " for a device (state D)") : "");
}

std::string processor_words(const ProcessSnapshot& snapshot, const Surroundings& around) {
  if (around.later == nullptr || around.seconds <= 0) return "";
  static const long ticks = sysconf(_SC_CLK_TCK);
  const double used =
      static_cast<double>(around.later->ticks - snapshot.ticks) / static_cast<double>(ticks) / around.seconds;
  return used < kNoWork ? "; uses no processor time" : cat("; uses ", format_short(used, 2), " processors");
}

/// Sockets of one kind: to one address, or of all clients of an address at which the process itself listens.
struct Peer {
  std::string state, address;
  bool clients = false;
  size_t sockets = 0;
  int64_t unread = 0, unsent = 0;
  /// What speaks first: what lies unread, what the other side did not take, hung up, does not answer.
  int rank() const { return unread > 0 ? 0 : unsent > 0 ? 1 : state != "ESTABLISHED" ? 2 : 3; }
};

std::string port_of(const std::string& address) { return address.substr(std::min(address.rfind(':'), address.size())); }

std::vector<Peer> peers_of(const ProcessSnapshot& snapshot) {
  std::set<std::string> served;  // ports; a client's own are of no meaning
  for (const Connection& one : snapshot.connections) {
    if (one.state == "LISTEN") served.insert(port_of(one.local));
  }
  std::map<std::pair<std::string, std::string>, Peer> all;
  for (const Connection& one : snapshot.connections) {
    if (one.state == "LISTEN" && one.unread == 0) continue;
    const bool clients = served.count(port_of(one.local)) > 0;
    Peer& peer = all[{one.state, clients ? one.local : one.peer}];
    peer.state = one.state;
    peer.address = clients ? one.local : one.peer;
    peer.clients = clients;
    ++peer.sockets;
    peer.unread += one.unread;
    peer.unsent += one.unsent;
  }
  std::vector<Peer> sorted;
  sorted.reserve(all.size());
  for (auto& [key, peer] : all) sorted.push_back(std::move(peer));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Peer& a, const Peer& b) {
    return a.rank() != b.rank() ? a.rank() < b.rank() : a.sockets > b.sockets;
  });
  return sorted;
}

std::string peer_words(const Peer& peer, const Surroundings& around) {
  if (peer.state == "LISTEN") {
    return cat("listens at ", peer.address, ", ", count(static_cast<size_t>(peer.unread), "connection"),
               " not accepted");
  }
  std::string text =
      cat(count(peer.sockets, peer.clients ? "client" : "socket"), peer.clients ? " at " : " to ", peer.address);
  for (const auto& [address, who] : around.peers) {
    if (!peer.clients && address == peer.address) text += cat(" (", who, ")");
  }
  if (peer.state == "CLOSE_WAIT") text += ", hung up by the other side";
  if (peer.state == "SYN_SENT") text += ", not answered";
  if (peer.unread > 0) text += cat(", ", format_bytes(static_cast<double>(peer.unread)), " unread");
  if (peer.unsent > 0)
    text += cat(", ", format_bytes(static_cast<double>(peer.unsent)), " not taken by the other side");
  return text;
}

std::string socket_words(const ProcessSnapshot& snapshot, const Surroundings& around) {
  const auto peers = peers_of(snapshot);
  std::string text;
  for (size_t i = 0; i < peers.size() && i < kPeersNamed; ++i) text += cat("; ", peer_words(peers[i], around));
  if (peers.size() > kPeersNamed) text += cat("; and ", peers.size() - kPeersNamed, " more");
  return text;
}

std::string thread_line(const ThreadSnapshot& thread, const Surroundings& around) {
  std::string used;
  if (around.later != nullptr) {
    for (const ThreadSnapshot& later : around.later->thread_snapshots) {
      if (later.id == thread.id && later.ticks > thread.ticks) used = cat(", ", later.ticks - thread.ticks, " ticks");
    }
  }
  const std::string in = waits_in(thread);
  return cat("  ", thread.id, " ", std::string(1, thread.state), " ", thread.name, in.empty() ? "" : cat(": ", in),
             thread.kernel.empty() || thread.kernel == in ? "" : cat(" [", thread.kernel, "]"), used, "\n");
}

}  // namespace

std::string sentence_of(const ProcessSnapshot& snapshot, const Surroundings& around) {
  std::string text = count(snapshot.threads, "thread");
  if (!snapshot.thread_snapshots.empty())
    text += cat(", ", main_words(snapshot.thread_snapshots.front()), other_words(snapshot));
  if (!snapshot.among.empty()) text += cat(", ", snapshot.among);
  text += processor_words(snapshot, around);
  if (!around.stacks.empty()) text += cat("; ", around.stacks);
  text += socket_words(snapshot, around);
  if (!around.gpus.empty()) text += cat("; ", around.gpus);
  return text;
}

std::string full_text(const ProcessSnapshot& snapshot, const Surroundings& around) {
  std::string text = cat(snapshot.label, " (pid ", snapshot.info.id.pid, "): ", sentence_of(snapshot, around), "\n\n");
  text += cat("Threads (state, name, what it waits in, ticks of processor time",
              around.later == nullptr ? "" : cat(" in ", format_short(around.seconds, 2), " s"), "):\n");
  for (const ThreadSnapshot& thread : snapshot.thread_snapshots) text += thread_line(thread, around);
  if (snapshot.threads > snapshot.thread_snapshots.size())
    text += cat("  and ", snapshot.threads - snapshot.thread_snapshots.size(), " more\n");
  text += cat("\nTCP sockets, of ", count(snapshot.files, "open file"), ":\n");
  for (const Connection& one : snapshot.connections) {
    text +=
        cat("  ", one.state, " ", one.local, " -> ", one.peer, ", ", one.unread, " unread, ", one.unsent, " unsent\n");
  }
  text += "\nStacks in the kernel:\n";
  for (const ThreadSnapshot& thread : snapshot.thread_snapshots) {
    if (!thread.stack.empty()) text += cat("  ", thread.id, " ", thread.name, "\n", thread.stack, "\n");
  }
  return text;
}

}  // namespace mw::components
