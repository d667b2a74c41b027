#include "sense/processes/port_owner.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/processes/addresses.h"
#include "sense/processes/sockets.h"

namespace mw::components {
namespace {

constexpr size_t kTableBytes = size_t{1} << 20;  // of a /proc/net/tcp
constexpr size_t kDescriptors = 4096;            // of a process that are looked at
constexpr int64_t kHttp = 80, kHttps = 443;

using Hosts = std::set<std::string>;

/// An address as inet_ntop writes it, which is how the sockets' are written; "" where `text` is none.
std::string canonical(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, text.c_str(), bytes.data()) == 1)
      return inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr ? "" : out.data();
  }
  return "";
}

bool is_loopback(std::string_view host) { return host.starts_with("127.") || host == "::1"; }

/// "32 hexadecimal digits" of /proc/net/if_inet6 as an address.
std::string sixth_version(std::string_view digits) {
  std::string text;
  for (size_t i = 0; i + 4 <= digits.size(); i += 4) text += cat(i == 0 ? "" : ":", digits.substr(i, 4));
  return canonical(text);
}

/// The addresses of this machine's interfaces. Of the fourth version they are those that the kernel's routing trie
/// calls "host LOCAL": "|-- 10.0.0.7" with "/32 host LOCAL" below it.
Hosts own_hosts(System& system) {
  Hosts own;
  const auto trie = system.read("/proc/self/net/fib_trie", kTableBytes);
  std::string leaf;
  for (const std::string_view line : split(trie.ok() ? std::string_view(*trie) : std::string_view(), '\n')) {
    const std::string_view text = trim(line);
    if (text.starts_with("|-- ")) leaf = std::string(text.substr(4));
    if (text.starts_with("/32 host LOCAL")) own.insert(leaf);
  }
  const auto sixth = system.read("/proc/self/net/if_inet6", kTableBytes);
  for (const std::string_view line : split(sixth.ok() ? std::string_view(*sixth) : std::string_view(), '\n'))
    own.insert(sixth_version(line.substr(0, line.find(' '))));
  own.erase("");
  return own;
}

/// What /etc/hosts says of a name, in lower case.
Hosts hosts_of(System& system, const std::string& name) {
  Hosts found;
  const auto text = system.read("/etc/hosts");
  for (const std::string_view line : split(text.ok() ? std::string_view(*text) : std::string_view(), '\n')) {
    std::string words(line.substr(0, line.find('#')));
    std::replace(words.begin(), words.end(), '\t', ' ');
    std::string host;
    for (const std::string_view word : split(words, ' ')) {
      if (word.empty()) continue;
      if (host.empty()) {
        host = std::string(word);
      } else if (to_lower(word) == name) {
        found.insert(canonical(host));
      }
    }
  }
  found.erase("");
  return found;
}

/// Is it what this machine calls itself, with or without the domain?
bool is_own_name(System& system, std::string_view name) {
  const auto text = system.read("/proc/sys/kernel/hostname");
  const std::string own = text.ok() ? to_lower(trim(*text)) : "";
  const auto first = [](std::string_view whole) { return whole.substr(0, whole.find('.')); };
  const bool bare = first(own) == own || first(name) == name;
  return !own.empty() && (name == own || (bare && first(name) == first(own)));
}

/// The machine's own addresses to which `host` leads.
Hosts own_addresses(System& system, const std::string& host) {
  if (host == "localhost" || host == "0.0.0.0" || host == "::") return {"127.0.0.1", "::1"};
  const std::string literal = canonical(host);
  if (is_loopback(literal)) return {literal};
  const Hosts own = own_hosts(system);
  if (!literal.empty()) return own.count(literal) != 0 ? Hosts{literal} : Hosts();
  const Hosts named = hosts_of(system, host);
  if (named.empty()) return is_own_name(system, host) ? own : Hosts();
  Hosts found;
  std::copy_if(named.begin(), named.end(), std::inserter(found, found.end()),
               [&own](const std::string& one) { return is_loopback(one) || own.count(one) != 0; });
  return found;
}

/// Does a socket that listens at `local`, without its port, take what is sent to one of these?
bool reaches(std::string_view local, const Hosts& targets) {
  if (local == "::") return true;
  return std::any_of(targets.begin(), targets.end(), [local](const std::string& target) {
    return local == target || (local == "0.0.0.0" && !contains(target, ":")) ||
           (is_loopback(local) && is_loopback(target));
  });
}

std::string_view without_brackets(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

std::set<uint64_t> listeners_at(System& system, std::string_view address) {
  const size_t scheme = address.find("://");
  std::string_view place = scheme == std::string_view::npos ? address : address.substr(scheme + 3);
  place = place.substr(0, place.find('/'));
  const size_t colon = place.rfind(':');
  const bool named = colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos;
  const int64_t port = named ? port_of(place) : address.starts_with("https:") ? kHttps : kHttp;
  const Hosts targets = own_addresses(system, to_lower(without_brackets(named ? place.substr(0, colon) : place)));
  std::set<uint64_t> found;
  if (targets.empty()) return found;
  for (const char* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const auto text = system.read(table, kTableBytes);
    if (!text.ok()) continue;
    for (const auto& [inode, one] : connections(*text)) {
      const std::string_view local = one.local;
      if (one.state == "LISTEN" && port_of(local) == port &&
          reaches(without_brackets(local.substr(0, local.rfind(':'))), targets))
        found.insert(inode);
    }
  }
  return found;
}

std::set<int64_t> holders_of(System& system, uint64_t inode) {
  std::set<int64_t> found;
  const auto processes = system.names("/proc");
  if (!processes.ok()) return found;
  for (const std::string& name : *processes) {
    const auto pid = parse_int(name);
    if (!pid) continue;
    const std::string folder = cat("/proc/", name, "/fd");
    const auto descriptors = system.names(folder);
    if (!descriptors.ok()) continue;
    for (size_t i = 0; i < std::min(descriptors->size(), kDescriptors); ++i) {
      const auto link = system.link(cat(folder, "/", (*descriptors)[i]));
      if (!link.ok() || socket_inode(*link) != inode) continue;
      found.insert(*pid);
      break;
    }
  }
  return found;
}

}  // namespace mw::components
