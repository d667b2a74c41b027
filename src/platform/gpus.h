// The door to NVIDIA GPUs: their figures and what the driver has to say. NVML behind it where its library is, else the
// nvidia-smi program.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// What one GPU shows; NaN where the driver does not say.
struct GpuFigures {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::string index;          ///< as nvidia-smi counts: "0"
  std::string place;          ///< on the bus, as the driver writes it: "00000000:3B:00.0"
  std::vector<int64_t> pids;  ///< of the processes that compute on it, as far as it names them
  bool lost = false;          ///< it does not answer any more
  double memory_used = kUnknown, memory_size = kUnknown;  ///< bytes; what the driver keeps for itself is not "used"
  double busy = kUnknown;                                 ///< share of time with a kernel running, 0..1
  double memory_busy = kUnknown;  ///< share of time in which its memory was read or written, 0..1
  double watts = kUnknown, celsius = kUnknown, megahertz = kUnknown;
  double slowed = kUnknown;       ///< 1 while heat or the power supply slows it down; a power cap is no such thing
  double uncorrected = kUnknown;  ///< memory errors since the driver was loaded
};

struct GpuSnapshot {
  std::vector<GpuFigures> gpus;
  /// What happened since the last snapshot, in the words of the kernel's log: "NVRM: Xid (PCI:0000:3b:00): 79, ...".
  std::vector<std::string> lines;
};

class Gpus {
 public:
  virtual ~Gpus() = default;
  /// May take seconds, and for ever when the driver hangs: not on the loop's thread, and one call at a time. kNotFound:
  /// there is neither library nor program, or no driver.
  virtual Result<GpuSnapshot> look() = 0;
};

/// NVML, else nvidia-smi; which of them is there is found out with the first snapshot.
std::unique_ptr<Gpus> make_gpus();

/// Through the library of this name (dlopen).
std::unique_ptr<Gpus> make_nvml(const std::string& library);
/// Through the program of this name (looked up in PATH). It is killed when it takes longer than `limit_s`.
std::unique_ptr<Gpus> make_nvidia_smi(const std::string& program, double limit_s);

/// Takes one line of nvidia-smi's CSV apart (see kSmiQuery in nvidia_smi.cc).
Result<GpuFigures> parse_smi_line(std::string_view line);

}  // namespace mw
