#include "ui/view/machine.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kPrefix = "system/";
constexpr double kMebi = 1024.0 * 1024.0;

struct Samples {
  double sum = 0, most = kNotMeasured;
  size_t count = 0, idle = 0;
  double mean() const { return count == 0 ? kNotMeasured : sum / static_cast<double>(count); }
};

Samples samples_of(const Series& series, const Cycle& cycle) {
  Samples s;
  for (const Point& p : series.points()) {
    if (!cycle.has(p) || !std::isfinite(p.value)) continue;
    s.sum += p.value;
    s.most = s.count == 0 ? p.value : std::max(s.most, p.value);
    s.idle += p.value < GpuLine::kIdlePercent ? 1 : 0;
    ++s.count;
  }
  return s;
}

void take_gpu(GpuLine& gpu, std::string_view what, const Samples& s) {
  if (what == "gpu") {
    gpu.busy = s.mean();
    gpu.idle = static_cast<double>(s.idle) / static_cast<double>(s.count);
  } else if (what == "memoryAllocatedBytes") {
    gpu.memory_bytes = s.most;
  } else if (what == "memoryAllocated") {
    gpu.memory_percent = s.most;
  } else if (what == "powerWatts") {
    gpu.watts = s.mean();
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
    host.push_back({"memory still free, mean", s.mean() * kMebi, "bytes"});
  } else if (what.rfind("disk.", 0) == 0 && what.size() > 18 && what.substr(what.size() - 13) == ".usagePercent") {
    host.push_back({cat("disk ", what.substr(5, what.size() - 18), " in use, peak"), s.most, "%"});
  }
}

}  // namespace

bool of_machine(std::string_view raw) { return raw.rfind(kPrefix, 0) == 0; }

MachineView machine_view(const State& state, const Cycle& cycle) {
  MachineView view;
  std::map<std::pair<size_t, std::string>, GpuLine> gpus;  // "10" after "9"
  for (const Series* series : state.shown()) {
    if (!of_machine(series->raw)) continue;
    const Samples s = samples_of(*series, cycle);
    if (s.count == 0) continue;
    const std::string_view name = std::string_view(series->raw).substr(kPrefix.size());
    const size_t dot = name.find('.', 4);
    if (name.rfind("gpu.", 0) != 0 || dot == std::string_view::npos) {
      take_host(view.host, name, s);
    } else if (const std::string index(name.substr(4, dot - 4)); index.find_first_not_of("0123456789") == index.npos) {
      GpuLine& gpu = gpus[{index.size(), index}];
      gpu.index = index;
      take_gpu(gpu, name.substr(dot + 1), s);
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
