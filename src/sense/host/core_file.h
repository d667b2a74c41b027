// What a core dump says of the process that left it: the note NT_PRPSINFO of core(5), as Linux writes it on 64-bit
// little-endian machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mw::host {

struct CoreFile {
  int64_t pid = 0, session = 0;
  std::string program;  ///< its first 15 bytes
};

/// How much of a dump's beginning is worth reading: the notes stand right behind the headers.
constexpr size_t kCoreHead = size_t{1} << 20;

/// nullopt: no core dump, or one that does not show whose it is.
std::optional<CoreFile> parse_core_head(std::string_view head);

}  // namespace mw::host
