// The driver, the CUDA that torch was built for, and the CUDA libraries beside it.
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

struct Needed {
  int cuda;                 // major version
  std::string_view driver;  // the oldest that runs it
};
// NVIDIA, CUDA Compatibility, "Minor version compatibility": the oldest driver of each major version.
constexpr Needed kNeeded[] = {{11, "450.80.02"}, {12, "525.60.13"}, {13, "580.65.06"}};

/// "12" of torch's "2.8.0+cu128", or of the package nvidia-cuda-runtime-cu12; 0: not known.
int cuda_of_torch(const Host& host) {
  const auto torch = host.packages.find("torch");
  if (torch == host.packages.end()) return 0;
  if (const size_t at = torch->second.find("+cu"); at != std::string::npos) {
    const auto number = parse_int(std::string_view(torch->second).substr(at + 3, 2));
    return static_cast<int>(number.value_or(0));
  }
  for (const int major : {13, 12, 11}) {
    if (host.packages.find(cat("nvidia-cuda-runtime-cu", major)) != host.packages.end()) return major;
  }
  return 0;
}

void check_driver(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const int cuda = cuda_of_torch(facts.host);
  if (!facts.host.is_here || cuda == 0 || facts.host.driver.empty()) return;
  for (const Needed& needed : kNeeded) {
    if (needed.cuda != cuda || compare_versions(facts.host.driver, needed.driver) >= 0) continue;
    Finding finding =
        finding_at(lint, Level::kError, nullptr,
                   cat("torch ", facts.host.packages.at("torch"), " is built for CUDA ", cuda, ", which wants driver ",
                       needed.driver, " or newer; this machine has ", facts.host.driver),
                   "take a machine with a newer driver, or a torch that was built for an older CUDA");
    finding.on_machine = true;
    out.push_back(std::move(finding));
  }
}

}  // namespace

namespace lints {
extern const Lint driver_cuda;
const Lint driver_cuda = {"driver-cuda",
                          Level::kError,
                          "The driver is too old for the CUDA that torch was built for.",
                          "'The NVIDIA driver on your system is too old', at the first call of CUDA.",
                          "NVIDIA, CUDA Compatibility: oldest driver of CUDA 11, 12 and 13",
                          check_driver};
}  // namespace lints

}  // namespace mw::preflight
