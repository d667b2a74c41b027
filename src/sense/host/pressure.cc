// Pressure stall information: how much of the last minute was lost waiting (Documentation/accounting/psi.rst).
#include "base/numbers.h"
#include "base/text.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

struct Resource {
  std::string_view name, line, signal;
};
// "full": nobody could work; of the processors as a whole there is no such line, or it is 0.
constexpr Resource kResources[] = {
    {"cpu", "some", "pressure.cpu"}, {"memory", "full", "pressure.memory"}, {"io", "full", "pressure.io"}};

class Pressure final : public Part {
 public:
  explicit Pressure(System& system) : system_(system) {}
  std::string_view name() const override { return "pressure"; }
  void begin(const Aim&, Duration) override {}

  bool collect(Notes& notes, Duration) override {
    bool any = false;
    for (const Resource& resource : kResources) {
      const auto text = system_.read(cat("/proc/pressure/", resource.name), 1024);
      if (!text.ok()) continue;
      for (const std::string_view line : split(*text, '\n')) {  // "full avg10=0.00 avg60=1.25 avg300=0.50 total=81"
        if (line.substr(0, resource.line.size()) != resource.line) continue;
        const size_t at = line.find("avg60=");
        if (at == std::string_view::npos) continue;
        size_t used = 0;
        const auto percent = parse_double_prefix(line.substr(at + 6), &used);
        if (!percent) continue;
        notes.figure(resource.signal, "machine", *percent / 100);
        any = true;
      }
    }
    if (!any && !reported_) notes.unseen("pressure stall information: this kernel has none");
    reported_ = true;
    return true;
  }

 private:
  System& system_;
  bool reported_ = false;
};

}  // namespace

std::unique_ptr<Part> make_pressure(System& system) { return std::make_unique<Pressure>(system); }

}  // namespace mw::host
