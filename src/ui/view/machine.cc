#include "ui/view/machine.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "core/host_figures.h"

namespace mw {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

struct Samples {
  double mean = kNotMeasured, most = kNotMeasured, least = kNotMeasured;
  uint64_t count = 0, idle = 0;  // samples; those of a GPU that did nothing
};

/// Of a long run's samples some stand for those that were dropped between them. Over the whole run the sums are exact.
Samples samples_of(const Series& series, const Cycle& cycle) {
  Samples s;
  double sum = 0;
  for (const Point& p : series.points()) {
    if (!cycle.has(p) || !std::isfinite(p.value)) continue;
    sum += p.value * p.stands_for;
    s.most = s.count == 0 ? p.value : std::max(s.most, p.value);
    s.least = s.count == 0 ? p.value : std::min(s.least, p.value);
    s.idle += p.value < GpuLine::kIdlePercent ? p.stands_for : 0;
    s.count += p.stands_for;
  }
  if (s.count == 0) return s;
  s.mean = sum / static_cast<double>(s.count);
  if (!cycle.whole() || series.count() < s.count) return s;  // a merged one has the points of some sources alone
  s.mean = series.mean();
  s.most = series.max();
  s.least = series.min();
  return s;
}

void take_gpu(GpuLine& gpu, std::string_view what, const Samples& s) {
  if (what == "gpu") {
    gpu.busy = s.mean;
    gpu.idle = static_cast<double>(s.idle) / static_cast<double>(s.count);
  } else if (what == "memoryAllocatedBytes") {
    gpu.memory_bytes = s.most;
  } else if (what == "memoryAllocated") {
    gpu.memory_percent = s.most;
  } else if (what == "powerWatts") {
    gpu.watts = s.mean;
  } else if (what == "temp") {
    gpu.celsius = s.most;
  } else if (what == "uncorrectedMemoryErrors") {
    gpu.uncorrected = s.most;
  }
}

void take_host(std::vector<HostLine>& host, std::string_view what, const Samples& s) {
  if (what == "memory_percent" || what == "memory") {
    host.push_back({"memory in use, peak", s.most, "%"});
  } else if (what == "proc.memory.rssMB") {
    host.push_back({"memory of the tracked process, peak", s.most * kMebi, "bytes"});
  } else if (what == "proc.memory.availableMB") {
    host.push_back({"memory still free, mean", s.mean * kMebi, "bytes"});
  } else if (what.rfind("disk.", 0) == 0 && what.size() > 18 && what.substr(what.size() - 13) == ".usagePercent") {
    host.push_back({cat("disk ", what.substr(5, what.size() - 18), " in use, peak"), s.most, "%"});
  }
}

using Gpus = std::map<std::pair<size_t, std::string>, GpuLine>;  // "10" after "9"

GpuLine& gpu_of(Gpus& gpus, const std::string& index) {
  GpuLine& gpu = gpus[{index.size(), index}];
  gpu.index = index;
  return gpu;
}

/// A GPU's figure as the watch itself measured it, in canonical units.
void take_own_gpu(GpuLine& gpu, std::string_view signal, const Samples& s) {
  if (signal == "gpu.busy") gpu.busy = s.mean * 100;
  if (signal == "gpu.memory.used") gpu.memory_bytes = s.most;
  if (signal == "gpu.power") gpu.watts = s.mean;
  if (signal == "gpu.temperature") gpu.celsius = s.most;
  if (signal == "gpu.ecc") gpu.uncorrected = s.most;
}

struct OwnLine {
  std::string_view signal, what, unit;
  enum { kMost, kLeast, kMean } which;
};
constexpr OwnLine kOwnLines[] = {
    {"host.cpu", "processors busy, mean", "%", OwnLine::kMean},
    {"process.cpu", "processors that the run kept busy, mean", "", OwnLine::kMean},
    {"process.memory", "memory of the run's processes, peak", "bytes", OwnLine::kMost},
    {"process.count", "processes of the run, most", "", OwnLine::kMost},
    {"host.memory.free", "memory of the machine still free, least", "bytes", OwnLine::kLeast},
    {"cgroup.memory.free", "left of the cgroup's memory limit, least", "bytes", OwnLine::kLeast},
    {"pressure.memory", "time lost waiting for memory, worst minute", "%", OwnLine::kMost},
    {"pressure.io", "time lost waiting for disks, worst minute", "%", OwnLine::kMost},
    {"disk.free", "free, least", "bytes", OwnLine::kLeast},
    {"checkpoint.bytes", "largest checkpoint", "bytes", OwnLine::kMost},
    {"engine.tokens", "tokens generated a second, mean", "", OwnLine::kMean},
    {"engine.running", "requests that are worked on, mean", "", OwnLine::kMean},
    {"engine.waiting", "requests that wait, most", "", OwnLine::kMost},
    {"engine.kv_usage", "memory for keys and values in use, peak", "%", OwnLine::kMost},
    {"process.core_dump", "core dump", "bytes", OwnLine::kMost},
};

void take_own(const State& state, const Cycle& cycle, MachineView& view, Gpus& gpus) {
  for (const Series& series : state.host) {
    const Samples s = samples_of(series, cycle);
    if (s.count > 0 && series.signal.rfind("gpu.", 0) == 0) take_own_gpu(gpu_of(gpus, series.raw), series.signal, s);
  }
  for (const OwnLine& line : kOwnLines) {
    for (const Series& series : state.host) {
      const Samples s = samples_of(series, cycle);
      if (series.signal != line.signal || s.count == 0) continue;
      const double value = line.which == OwnLine::kMost ? s.most : line.which == OwnLine::kMean ? s.mean : s.least;
      const bool named = series.raw != "machine" && series.raw != "run";
      view.host.push_back({named ? cat(series.raw, ": ", line.what) : std::string(line.what),
                           line.unit == "%" ? value * 100 : value, line.unit});
    }
  }
}

constexpr std::string_view kScrape = "scrape.";

/// The metrics of endpoints of the user's own, in units of theirs.
void take_scraped(const State& state, const Cycle& cycle, MachineView& view) {
  for (const Series& series : state.host) {
    if (series.signal.rfind(kScrape, 0) != 0) continue;
    const Samples s = samples_of(series, cycle);
    if (s.count == 0) continue;
    view.host.push_back({cat(series.signal.substr(kScrape.size()), ": ", series.raw, ", least"), s.least, ""});
    view.host.push_back({cat(series.signal.substr(kScrape.size()), ": ", series.raw, ", most"), s.most, ""});
  }
}

}  // namespace

MachineView machine_view(const State& state, const Cycle& cycle) {
  MachineView view;
  Gpus gpus;
  take_own(state, cycle, view, gpus);
  take_scraped(state, cycle, view);
  for (const Series* series : state.shown()) {
    if (!of_machine(series->raw)) continue;
    const Samples s = samples_of(*series, cycle);
    if (s.count == 0) continue;
    const std::string_view name = std::string_view(series->raw).substr(kMachine.size());
    const size_t dot = name.find('.', 4);
    if (name.rfind("gpu.", 0) != 0 || dot == std::string_view::npos) {
      take_host(view.host, name, s);
    } else if (const std::string index(name.substr(4, dot - 4)); index.find_first_not_of("0123456789") == index.npos) {
      take_gpu(gpu_of(gpus, index), name.substr(dot + 1), s);
    }
  }
  for (auto& [key, gpu] : gpus) view.gpus.push_back(std::move(gpu));
  return view;
}

std::string machine_value(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "";
  if (unit == "bytes") return format_bytes(value);
  return unit.empty() ? format_short(value, 3) : cat(format_short(value, 3), " ", unit);
}

}  // namespace mw
