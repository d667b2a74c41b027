// /dev/shm: loaders, NCCL and Ray talk through it.
#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kDocker = 64 * 1.1e6;  // bytes: what Docker gives when nobody says otherwise, with a little over
constexpr double kLeast = 1e9;          // bytes: NCCL takes some 10 MB a pair of ranks, loaders a batch each
constexpr double kForEachGpu = 1e9;

void check_shm(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!facts.host.is_here || facts.framework == nullptr) return;
  for (const DiskSpace& disk : facts.host.disks) {
    if (disk.what != "/dev/shm") continue;
    const double wanted = std::max(kLeast, kForEachGpu * static_cast<double>(facts.host.gpus.size()));
    if (disk.free >= wanted) continue;
    const bool full = disk.size >= wanted;
    Finding finding =
        finding_at(lint, disk.size <= kDocker || disk.free < 100 * kMegabyte ? Level::kError : Level::kWarning, nullptr,
                   cat("/dev/shm has ", format_bytes(disk.free), " free of ", format_bytes(disk.size),
                       "; this run wants about ", format_bytes(wanted)),
                   full ? "see what is left over there (midwatch cleanup, ls -l /dev/shm)"
                        : "start the container with --shm-size=16g or --ipc=host; in Kubernetes mount an emptyDir of "
                          "medium Memory");
    finding.on_machine = true;
    out.push_back(std::move(finding));
  }
}

}  // namespace

namespace lints {
extern const Lint shared_memory;
const Lint shared_memory = {
    "shared-memory",
    Level::kError,
    "/dev/shm is too small for data loaders, NCCL and Ray.",
    "Workers die with SIGBUS, NCCL with 'unhandled system error', Ray moves its store to a disk.",
    "PyTorch's data loader and NCCL's documentation; Docker's default of 64 MB",
    check_shm};
}  // namespace lints

}  // namespace mw::preflight
