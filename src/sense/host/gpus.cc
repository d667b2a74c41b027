// The GPUs, asked in the background: a driver may take seconds to answer, or hang for ever.
#include "platform/gpus.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "platform/background_call.h"
#include "sense/host/host.h"
#include "sense/host/xid.h"

namespace mw::host {
namespace {

constexpr Duration kPatience = Duration::seconds(1);    // that a round waits for the answer
constexpr Duration kSilent = Duration::seconds(60);     // without an answer, after which the driver counts as lost
constexpr Duration kTryAgain = Duration::seconds(600);  // after it said that there is nothing
constexpr std::string_view kDriver = "driver";

class GpuPart final : public Part {
 public:
  GpuPart(std::shared_ptr<Gpus> gpus, Seen& seen) : gpus_(std::move(gpus)), run_(seen) {}
  std::string_view name() const override { return "gpus"; }

  void begin(const Aim&, Duration now) override {
    began_ = now;
    if (call_.started() || (absent_ && now.ns - asked_.ns < kTryAgain.ns)) return;
    asked_ = now;
    call_.start([gpus = gpus_] { return gpus->look(); });
  }

  bool collect(Notes& notes, Duration now) override {
    if (call_.busy()) {
      if (now.ns - began_.ns < kPatience.ns) return false;
      if (now.ns - asked_.ns >= kSilent.ns) report_lost(notes, kDriver, true);
      return true;
    }
    const auto answer = call_.take();
    if (!answer) return true;
    if (!answer->ok()) {
      // A driver that goes away under a run and had reported GPUs before is lost with all of them.
      if (seen_) report_lost(notes, kDriver, true);
      if (!seen_ && !absent_) notes.unseen(cat("GPUs: ", answer->error().what));
      absent_ = !seen_;
      return true;
    }
    absent_ = false;
    seen_ = true;
    report_lost(notes, kDriver, false);
    report(notes, **answer);
    return true;
  }

  bool busy() const override { return call_.busy(); }

 private:
  /// Reported when it becomes so and when it is over, but not while all is well.
  void report_lost(Notes& notes, std::string_view thing, bool lost) {
    if (lost || lost_.count(std::string(thing)) > 0) notes.figure("gpu.lost", thing, lost ? 1 : 0);
    if (lost) lost_.insert(std::string(thing));
    if (!lost) lost_.erase(std::string(thing));
  }

  /// Which GPUs the run uses, as far as the driver names their processes by numbers that are those of this machine.
  void note_users(const GpuSnapshot& snapshot) {
    for (const GpuFigures& gpu : snapshot.gpus) {
      if (gpu.place.empty() || gpu.pids.empty()) continue;
      const std::string place = place_on_bus(gpu.place);
      run_.gpus.insert(place);
      const bool used = std::any_of(gpu.pids.begin(), gpu.pids.end(), [this](int64_t pid) {
        return std::find(run_.pids.begin(), run_.pids.end(), pid) != run_.pids.end();
      });
      if (used) run_.used_gpus.insert(place);
    }
  }

  /// NVML does not say which process an error is of. The kernel's log does; where it cannot be read, one of the run's
  /// is gone with it, or nobody else is on that GPU.
  bool concerns_run(const GpuSnapshot& snapshot, const std::string& line) const {
    const auto xid = parse_xid(line);
    if (!xid) return true;
    if (is_foreign_gpu(run_, xid->gpu)) return false;
    if (!is_of_process(xid->number)) return true;
    if (run_.kernel_log) return false;
    if (!run_.gone.empty() || run_.used_gpus.empty()) return true;
    const auto gpu = std::find_if(snapshot.gpus.begin(), snapshot.gpus.end(),
                                  [&](const GpuFigures& one) { return place_on_bus(one.place) == xid->gpu; });
    return gpu == snapshot.gpus.end() || std::all_of(gpu->pids.begin(), gpu->pids.end(), [this](int64_t pid) {
             return std::find(run_.pids.begin(), run_.pids.end(), pid) != run_.pids.end();
           });
  }

  void report(Notes& notes, const GpuSnapshot& snapshot) {
    note_users(snapshot);
    for (const GpuFigures& gpu : snapshot.gpus) {
      const bool foreign = is_foreign_gpu(run_, place_on_bus(gpu.place));
      const auto figure = [&](std::string_view signal, double value) {
        if (std::isfinite(value)) notes.figure(signal, gpu.index, value);
      };
      report_lost(notes, gpu.index, gpu.lost && !foreign);
      if (gpu.lost) continue;
      figure("gpu.memory.used", gpu.memory_used);
      figure("gpu.memory.size", gpu.memory_size);
      figure("gpu.busy", gpu.busy);
      figure("gpu.memory.busy", gpu.memory_busy);
      figure("gpu.power", gpu.watts);
      figure("gpu.temperature", gpu.celsius);
      figure("gpu.clock", gpu.megahertz);
      if (foreign) continue;
      figure("gpu.slowed", gpu.slowed);
      figure("gpu.ecc", gpu.uncorrected);
    }
    for (const std::string& line : snapshot.lines) {
      if (concerns_run(snapshot, line)) notes.line(line);
    }
  }

  std::shared_ptr<Gpus> gpus_;
  Seen& run_;
  BackgroundCall<Result<GpuSnapshot>> call_;
  Duration began_, asked_;
  bool absent_ = false, seen_ = false;
  std::set<std::string, std::less<>> lost_;
};

}  // namespace

std::unique_ptr<Part> make_gpu_part(std::shared_ptr<Gpus> gpus, Seen& seen) {
  return std::make_unique<GpuPart>(std::move(gpus), seen);
}

}  // namespace mw::host
