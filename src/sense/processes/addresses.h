// Addresses of servers in what a trainer writes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mw::components {

/// "10.0.0.7:8000" and the like in a line, in order, each once; at most kAddressesHeard. Written as HOST:PORT, as
/// Python's ('HOST', PORT), or as urllib3's host='HOST', port=PORT. Only of the machine itself ("localhost" is given as
/// 127.0.0.1) and of private networks (RFC 1918, RFC 6598): a line of a log must not make midwatch ask the internet.
std::vector<std::string> addresses_in(std::string_view line);
constexpr size_t kAddressesHeard = 4;

/// 8000 of "127.0.0.1:8000" or "http://[::1]:8000"; 0 where none stands at the end.
int64_t port_of(std::string_view address);

}  // namespace mw::components
