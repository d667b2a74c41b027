// NVIDIA's Xid errors, as the kernel's log and NVML have them: of which GPU and whose process. A machine may be shared,
// and the fault of a neighbour's process is none of this run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sense/host/host.h"

namespace mw::host {

struct Xid {
  int64_t number = 0;
  std::string gpu;      ///< its place on the bus, as place_on_bus() writes it
  int64_t pid = 0;      ///< as the kernel counts; 0: not said
  std::string process;  ///< its name; "" where it is not said
};

/// "NVRM: Xid (PCI:0000:00:06): 31, pid=626, name=python3, channel 0x00000136, intr ..."; nullopt for any other line.
std::optional<Xid> parse_xid(std::string_view line);

/// Whether an error of this number concerns only the process that made it; all others concern whoever uses the GPU.
bool is_of_process(int64_t number);

/// "0000:3b:00" of "PCI:0000:3b:00", "00000000:3B:00.0" or "0000:3b:00.0".
std::string place_on_bus(std::string_view text);

/// Whether the run does not use this GPU. False as long as it is not known which ones it uses.
bool is_foreign_gpu(const Seen& seen, std::string_view place);

}  // namespace mw::host
