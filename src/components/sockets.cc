#include "components/sockets.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::components {
namespace {

constexpr size_t kDescriptors = 4096;                 // of a process that are looked at
constexpr size_t kTableBytes = size_t{1} << 20;       // of a /proc/net/tcp
constexpr size_t kLocal = 1, kState = 3, kInode = 9;  // columns
constexpr std::string_view kListens = "0A";           // TCP_LISTEN, include/net/tcp_states.h

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

/// A byte in hexadecimal; -1 when it is none.
int byte_at(std::string_view text, size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = digit(text[at]), low = digit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// "0100007F:1F40" (each 32-bit word in the machine's own order, which is little-endian here) as "127.0.0.1:8000"; ""
/// when it is not one that loopback or an IPv4 address reaches.
std::string address_of(std::string_view local) {
  const size_t colon = local.find(':');
  if (colon == std::string_view::npos) return "";
  const std::string_view host = local.substr(0, colon);
  const int high = byte_at(local, colon + 1), low = byte_at(local, colon + 3);
  if (high < 0 || low < 0 || (host.size() != 8 && host.size() != 32)) return "";
  const int port = high * 256 + low;
  const std::string_view last = host.substr(host.size() - 8);
  const std::string_view rest = host.substr(0, host.size() - 8);
  const auto all_zero = [](std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; };
  if (all_zero(host)) return cat("127.0.0.1:", port);
  if (all_zero(rest) && last == "01000000" && host.size() == 32) return cat("[::1]:", port);
  const bool mapped = rest == "0000000000000000FFFF0000";
  if (host.size() == 32 && !mapped) return "";
  std::string text;
  for (size_t i = 4; i-- > 0;) {
    const int part = byte_at(last, 2 * i);
    if (part < 0) return "";
    text += cat(text.empty() ? "" : ".", part);
  }
  return cat(text, ":", port);
}

std::vector<std::string_view> columns(std::string_view line) {
  std::vector<std::string_view> found;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

int64_t port_of(const std::string& address) { return parse_int(address.substr(address.rfind(':') + 1)).value_or(0); }

}  // namespace

std::map<uint64_t, std::string> listening(std::string_view text) {
  std::map<uint64_t, std::string> found;
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = columns(line);
    if (fields.size() <= kInode || fields[kState] != kListens) continue;
    const auto inode = parse_int(fields[kInode]);
    std::string address = address_of(fields[kLocal]);
    if (inode && *inode > 0 && !address.empty()) found[static_cast<uint64_t>(*inode)] = std::move(address);
  }
  return found;
}

std::vector<std::string> addresses_of(System& system, int64_t pid) {
  const std::string place = cat("/proc/", pid);
  // The process's own view: it may live in another network namespace.
  std::map<uint64_t, std::string> open;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    const auto text = system.read(place + table, kTableBytes);
    if (text.ok()) open.merge(listening(*text));
  }
  std::vector<std::string> found;
  if (open.empty()) return found;
  const auto descriptors = system.names(place + "/fd");
  if (!descriptors.ok()) return found;
  size_t looked = 0;
  for (const std::string& number : *descriptors) {
    if (++looked > kDescriptors) break;
    const auto link = system.link(cat(place, "/fd/", number));  // "socket:[4711]"
    if (!link.ok() || link->rfind("socket:[", 0) != 0) continue;
    const auto inode = parse_int(std::string_view(*link).substr(8, link->size() - 9));
    const auto known = inode ? open.find(static_cast<uint64_t>(*inode)) : open.end();
    if (known != open.end()) found.push_back(known->second);
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return std::pair(port_of(a), a) < std::pair(port_of(b), b);
  });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > kAddresses) found.resize(kAddresses);
  return found;
}

}  // namespace mw::components
