#include "sense/processes/addresses.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::components {
namespace {

constexpr std::string_view kLocalhost = "localhost";
constexpr int64_t kPorts = 65536;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }

/// Digits at the front, taken off; nothing when there are none or more than five.
std::optional<int64_t> take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 6 && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits > 5) return std::nullopt;
  const auto value = parse_int(text.substr(0, digits));
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view what) {
  if (text.substr(0, what.size()) != what) return false;
  text.remove_prefix(what.size());
  return true;
}

bool is_private(const std::array<int64_t, 4>& host) {
  return host[0] == 127 || host[0] == 10 || (host[0] == 192 && host[1] == 168) ||
         (host[0] == 172 && host[1] >= 16 && host[1] < 32) || (host[0] == 100 && host[1] >= 64 && host[1] < 128);
}

/// A host at the front, taken off; "" when there is none that may be asked.
std::string take_host(std::string_view& text) {
  if (take(text, kLocalhost)) return "127.0.0.1";
  std::array<int64_t, 4> parts{};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && !take(text, ".")) return "";
    const auto part = take_number(text);
    if (!part || *part > 255) return "";
    parts[i] = *part;
  }
  if (!is_private(parts)) return "";
  return cat(parts[0], ".", parts[1], ".", parts[2], ".", parts[3]);
}

/// The port behind a host.
std::optional<int64_t> take_port(std::string_view text) {
  if (!take(text, ":")) {
    if (!take(text, "'") && !take(text, "\"")) return std::nullopt;
    if (!take(text, ", ")) return std::nullopt;
    (void)take(text, "port=");
  }
  const auto port = take_number(text);
  const bool ends = text.empty() || (!is_word(text.front()) && text.front() != '.') ||
                    (text.front() == '.' && (text.size() == 1 || !is_digit(text[1])));
  return port && *port > 0 && *port < kPorts && ends ? port : std::nullopt;
}

}  // namespace

int64_t port_of(std::string_view address) { return parse_int(address.substr(address.rfind(':') + 1)).value_or(0); }

std::vector<std::string> addresses_in(std::string_view line) {
  std::vector<std::string> found;
  for (size_t i = 0; i < line.size() && found.size() < kAddressesHeard; ++i) {
    const bool begins = i == 0 || (!is_word(line[i - 1]) && line[i - 1] != '.');
    if (!begins || (!is_digit(line[i]) && line[i] != kLocalhost.front())) continue;
    std::string_view rest = line.substr(i);
    const std::string host = take_host(rest);
    const auto port = host.empty() ? std::nullopt : take_port(rest);
    if (!port) continue;
    std::string address = cat(host, ":", *port);
    if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(std::move(address));
  }
  return found;
}

}  // namespace mw::components
