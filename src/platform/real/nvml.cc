// NVML through dlopen. What is declared here of it is from NVIDIA's NVML API reference; nothing of it is needed to
// build.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "platform/gpus.h"

namespace mw {
namespace {

extern "C" {
using NvmlDevice = struct NvmlDeviceTag*;
using NvmlEventSet = struct NvmlEventSetTag*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlMemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};
struct NvmlPci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char name[32];
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct NvmlEvent {
  NvmlDevice device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
}

constexpr int kSuccess = 0, kGpuIsLost = 15, kTemperatureGpu = 0, kClockSm = 1, kUncorrected = 1, kVolatile = 0;
constexpr unsigned kMemoryVersion = static_cast<unsigned>(sizeof(NvmlMemoryV2) | (2U << 24));
constexpr unsigned long long kXidEvent = 0x8;
// HW slowdown, SW thermal, HW thermal, HW power brake; not 0x4, the power cap, which is where a busy GPU works.
constexpr unsigned long long kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;
constexpr unsigned kGpus = 64;        // looked at, at most
constexpr unsigned kProcesses = 256;  // of a GPU
constexpr int kEventsAtOnce = 64;     // reported by one snapshot
constexpr Error::Code kNone = Error::Code::kNotFound;

class Nvml final : public Gpus {
 public:
  explicit Nvml(const std::string& library) : library_(library) {}
  ~Nvml() override {
    if (begun_) shutdown_();
    if (handle_ != nullptr) dlclose(handle_);
  }

  Result<GpuSnapshot> look() override {
    if (!begun_) MW_TRY(begin());
    unsigned count = 0;
    if (const int problem = count_(&count); problem != kSuccess) return failed("nvmlDeviceGetCount_v2", problem);
    GpuSnapshot seen;
    most_ = std::max(most_, std::min(count, kGpus));
    for (unsigned i = 0; i < most_; ++i) seen.gpus.push_back(figures(i, count));
    events(seen);
    return seen;
  }

 private:
  template <typename Function>
  bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

  Result<void> begin() {
    if (handle_ == nullptr) handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) return Error{kNone, cat(library_, " is not there"), ""};
    const bool needed = find(init_, "nvmlInit_v2") && find(shutdown_, "nvmlShutdown") &&
                        find(count_, "nvmlDeviceGetCount_v2") && find(by_index_, "nvmlDeviceGetHandleByIndex_v2");
    if (!needed) return Error{kNone, cat(library_, " is not NVML"), ""};
    // What an old library lacks is not known of its GPUs.
    find(memory_, "nvmlDeviceGetMemoryInfo");
    find(memory2_, "nvmlDeviceGetMemoryInfo_v2");
    find(utilization_, "nvmlDeviceGetUtilizationRates");
    find(power_, "nvmlDeviceGetPowerUsage");
    find(temperature_, "nvmlDeviceGetTemperature");
    find(clock_, "nvmlDeviceGetClockInfo");
    find(throttle_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(ecc_, "nvmlDeviceGetTotalEccErrors");
    find(pci_, "nvmlDeviceGetPciInfo_v3");
    find(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(make_set_, "nvmlEventSetCreate");
    find(register_, "nvmlDeviceRegisterEvents");
    find(wait_, "nvmlEventSetWait_v2");
    if (const int problem = init_(); problem != kSuccess) return failed("nvmlInit_v2", problem);
    begun_ = true;
    return {};
  }

  static Error failed(std::string_view what, int problem) { return {kNone, cat(what, " says ", problem), ""}; }

  /// A GPU that was there and no longer is, or whose handle is refused, is lost.
  GpuFigures figures(unsigned index, unsigned count) {
    GpuFigures gpu;
    gpu.index = cat(index);
    NvmlDevice device = nullptr;
    if (index >= count || by_index_(index, &device) != kSuccess) {
      gpu.lost = true;
      return gpu;
    }
    watch(device);
    const auto is = [&gpu](int answer) {
      gpu.lost = gpu.lost || answer == kGpuIsLost;
      return answer == kSuccess;
    };
    NvmlMemoryV2 memory2{kMemoryVersion, 0, 0, 0, 0};
    NvmlMemory memory{};
    if (memory2_ != nullptr && is(memory2_(device, &memory2))) {
      gpu.memory_used = static_cast<double>(memory2.used);
      gpu.memory_size = static_cast<double>(memory2.total);
    } else if (memory_ != nullptr && is(memory_(device, &memory))) {
      gpu.memory_used = static_cast<double>(memory.used);
      gpu.memory_size = static_cast<double>(memory.total);
    }
    NvmlUtilization utilization{};
    unsigned value = 0;
    unsigned long long wide = 0;
    if (utilization_ != nullptr && is(utilization_(device, &utilization))) {
      gpu.busy = utilization.gpu / 100.0;
      gpu.memory_busy = utilization.memory / 100.0;
    }
    if (power_ != nullptr && is(power_(device, &value))) gpu.watts = value / 1000.0;
    if (temperature_ != nullptr && is(temperature_(device, kTemperatureGpu, &value))) gpu.celsius = value;
    if (clock_ != nullptr && is(clock_(device, kClockSm, &value))) gpu.megahertz = value;
    if (throttle_ != nullptr && is(throttle_(device, &wide))) gpu.slowed = (wide & kSlowdowns) != 0 ? 1 : 0;
    if (ecc_ != nullptr && is(ecc_(device, kUncorrected, kVolatile, &wide)))
      gpu.uncorrected = static_cast<double>(wide);
    gpu.place = names_[device];
    gpu.pids = processes(device);
    return gpu;
  }

  std::vector<int64_t> processes(NvmlDevice device) {
    std::array<NvmlProcess, kProcesses> found{};
    unsigned count = kProcesses;
    std::vector<int64_t> pids;
    if (processes_ == nullptr || processes_(device, &count, found.data()) != kSuccess) return pids;
    for (unsigned i = 0; i < std::min(count, kProcesses); ++i) pids.push_back(found[i].pid);
    return pids;
  }

  /// From the first sight of a GPU on its Xid events are kept for us by the driver.
  void watch(NvmlDevice device) {
    if (names_.count(device) > 0) return;
    NvmlPci pci{};
    const bool named = pci_ != nullptr && pci_(device, &pci) == kSuccess;
    pci.name[sizeof pci.name - 1] = '\0';
    names_[device] = named ? to_lower(pci.name) : cat("gpu ", names_.size());
    if (set_ == nullptr && (make_set_ == nullptr || make_set_(&set_) != kSuccess)) set_ = nullptr;
    if (set_ != nullptr && register_ != nullptr) (void)register_(device, kXidEvent, set_);  // not on every model
  }

  void events(GpuSnapshot& seen) {
    if (set_ == nullptr || wait_ == nullptr) return;
    for (int i = 0; i < kEventsAtOnce; ++i) {
      NvmlEvent event{};
      if (wait_(set_, &event, 0) != kSuccess) return;  // a time-out: nothing more happened
      if (event.type != kXidEvent) continue;
      const auto name = names_.find(event.device);
      const std::string place = name == names_.end() ? "?" : name->second.substr(0, name->second.rfind('.'));
      seen.lines.push_back(cat("NVRM: Xid (PCI:", place, "): ", event.data, ", as NVML reports"));
    }
  }

  std::string library_;
  void* handle_ = nullptr;
  bool begun_ = false;
  unsigned most_ = 0;
  NvmlEventSet set_ = nullptr;
  std::map<NvmlDevice, std::string> names_;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, NvmlDevice*) = nullptr;
  int (*memory_)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*memory2_)(NvmlDevice, NvmlMemoryV2*) = nullptr;
  int (*utilization_)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*power_)(NvmlDevice, unsigned*) = nullptr;
  int (*temperature_)(NvmlDevice, int, unsigned*) = nullptr;
  int (*clock_)(NvmlDevice, int, unsigned*) = nullptr;
  int (*throttle_)(NvmlDevice, unsigned long long*) = nullptr;
  int (*ecc_)(NvmlDevice, int, int, unsigned long long*) = nullptr;
  int (*pci_)(NvmlDevice, NvmlPci*) = nullptr;
  int (*processes_)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
  int (*make_set_)(NvmlEventSet*) = nullptr;
  int (*register_)(NvmlDevice, unsigned long long, NvmlEventSet) = nullptr;
  int (*wait_)(NvmlEventSet, NvmlEvent*, unsigned) = nullptr;
};

}  // namespace

std::unique_ptr<Gpus> make_nvml(const std::string& library) { return std::make_unique<Nvml>(library); }

}  // namespace mw
