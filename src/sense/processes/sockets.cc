#include "sense/processes/sockets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/processes/addresses.h"

namespace mw::components {
namespace {

constexpr size_t kDescriptors = 4096;                                         // of a process that are looked at
constexpr size_t kTableBytes = size_t{1} << 20;                               // of a /proc/net/tcp
constexpr size_t kLocal = 1, kPeer = 2, kState = 3, kQueues = 4, kInode = 9;  // columns
constexpr std::string_view kListens = "0A";                                   // TCP_LISTEN, include/net/tcp_states.h

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

/// As address_of(), of whatever address: "10.0.0.7:8000", "[fd00::7]:8000"; "" when it is none.
std::string any_address(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || (colon != 8 && colon != 32)) return "";
  const int high = byte_at(text, colon + 1), low = byte_at(text, colon + 3);
  std::array<unsigned char, 16> bytes{};
  for (size_t i = 0; i < colon / 2; ++i) {
    const int byte = byte_at(text, 2 * (i / 4 * 4 + 3 - i % 4));  // words of the machine's order
    if (byte < 0 || high < 0 || low < 0) return "";
    bytes[i] = static_cast<unsigned char>(byte);
  }
  const bool mapped = colon == 32 && std::all_of(bytes.begin(), bytes.begin() + 10, [](int b) { return b == 0; }) &&
                      bytes[10] == 0xff && bytes[11] == 0xff;
  const bool four = colon == 8 || mapped;
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (inet_ntop(four ? AF_INET : AF_INET6, bytes.data() + (mapped ? 12 : 0), out.data(), out.size()) == nullptr)
    return "";
  return four ? cat(out.data(), ":", high * 256 + low) : cat("[", out.data(), "]:", high * 256 + low);
}

/// A number in hexadecimal of at most eight digits; -1 when it is none.
int64_t hex(std::string_view text) {
  int64_t value = text.empty() || text.size() > 8 ? -1 : 0;
  for (size_t i = 0; value >= 0 && i < text.size(); ++i) value = digit(text[i]) < 0 ? -1 : value * 16 + digit(text[i]);
  return value;
}

/// include/net/tcp_states.h
std::string_view state_name(int64_t number) {
  constexpr std::array<std::string_view, 13> kNames = {
      "",       "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",   "TIME_WAIT",
      "CLOSED", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",   "NEW_SYN_RECV"};
  return number > 0 && number < static_cast<int64_t>(kNames.size()) ? kNames[static_cast<size_t>(number)] : "";
}

std::vector<std::string_view> columns(std::string_view line) {
  std::vector<std::string_view> found;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

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

std::map<uint64_t, Connection> connections(std::string_view text) {
  std::map<uint64_t, Connection> found;
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = columns(line);
    if (fields.size() <= kInode) continue;
    const auto inode = parse_int(fields[kInode]);
    Connection one{std::string(state_name(hex(fields[kState]))), any_address(fields[kLocal]),
                   any_address(fields[kPeer])};
    if (!inode || *inode <= 0 || one.state.empty() || one.local.empty()) continue;
    const size_t colon = fields[kQueues].find(':');
    one.unsent = std::max<int64_t>(0, hex(fields[kQueues].substr(0, colon)));
    one.unread = colon == std::string_view::npos ? 0 : std::max<int64_t>(0, hex(fields[kQueues].substr(colon + 1)));
    found[static_cast<uint64_t>(*inode)] = std::move(one);
  }
  return found;
}

uint64_t socket_inode(std::string_view link) {
  constexpr std::string_view kHead = "socket:[";
  if (link.rfind(kHead, 0) != 0 || link.back() != ']') return 0;
  const auto inode = parse_int(link.substr(kHead.size(), link.size() - kHead.size() - 1));
  return inode && *inode > 0 ? static_cast<uint64_t>(*inode) : 0;
}

/// As the process itself sees it, which may live in another namespace than we do.
const std::map<uint64_t, std::string>& Listeners::table_of(int64_t pid) {
  const std::string place = cat("/proc/", pid);
  const auto space = system_.link(place + "/ns/net");
  const auto [table, fresh] = tables_.try_emplace(space.ok() ? *space : place);
  for (const char* name : {"/net/tcp", "/net/tcp6"}) {
    const auto text = fresh ? system_.read(place + name, kTableBytes) : Error{Error::Code::kNotFound, "", ""};
    if (text.ok()) table->second.merge(listening(*text));
  }
  return table->second;
}

std::vector<int64_t> Listeners::ports_beside(int64_t pid) {
  std::vector<int64_t> ports;
  for (const auto& [inode, address] : table_of(pid)) ports.push_back(port_of(address));
  return ports;
}

std::vector<std::string> addresses_of(System& system, int64_t pid) { return Listeners(system).of(pid); }

std::vector<std::string> Listeners::of(int64_t pid) {
  const std::string place = cat("/proc/", pid);
  const std::map<uint64_t, std::string>& open = table_of(pid);
  std::vector<std::string> found;
  if (open.empty()) return found;
  const auto descriptors = system_.names(place + "/fd");
  if (!descriptors.ok()) return found;
  size_t looked = 0;
  for (const std::string& number : *descriptors) {
    if (++looked > kDescriptors) break;
    const auto link = system_.link(cat(place, "/fd/", number));
    const auto known = link.ok() ? open.find(socket_inode(*link)) : open.end();
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
