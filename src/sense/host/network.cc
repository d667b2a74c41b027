// Bytes, losses and errors of the machine's network interfaces together, the loopback left out.
#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

struct Counters {
  int64_t received = 0, sent = 0, broken = 0;
};

class Network final : public Part {
 public:
  explicit Network(System& system) : system_(system) {}
  std::string_view name() const override { return "network"; }

  void begin(const Aim&, Duration now) override {
    period_ = known_ ? Duration{now.ns - looked_.ns} : Duration{};
    looked_ = now;
  }

  bool collect(Notes& notes, Duration) override {
    const auto text = system_.read("/proc/net/dev", size_t{64} << 10);
    if (!text.ok()) return true;
    const Counters now = read(*text);
    if (known_ && period_.ns > 0) {
      // A counter that went back belongs to an interface that came anew.
      const auto rate = [this](int64_t a, int64_t b) {
        return static_cast<double>(std::max<int64_t>(0, a - b)) / period_.seconds();
      };
      notes.figure("net.received", "machine", rate(now.received, last_.received));
      notes.figure("net.sent", "machine", rate(now.sent, last_.sent));
      notes.figure("net.errors", "machine", rate(now.broken, last_.broken));
    }
    last_ = now;
    known_ = true;
    return true;
  }

 private:
  /// "  eth0: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop ..."
  static Counters read(std::string_view text) {
    Counters sum;
    for (const std::string_view line : split(text, '\n')) {
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || trim(line.substr(0, colon)) == "lo") continue;
      std::array<int64_t, 16> fields{};
      size_t count = 0;
      for (const std::string_view word : split(line.substr(colon + 1), ' ')) {
        const auto value = parse_int(trim(word));
        if (value && count < fields.size()) fields[count++] = *value;
      }
      if (count < 12) continue;
      sum.received += fields[0];
      sum.sent += fields[8];
      sum.broken += fields[2] + fields[10];  // drops are normal where the kernel knows no protocol for a packet
    }
    return sum;
  }

  System& system_;
  Duration looked_, period_;
  Counters last_;
  bool known_ = false;
};

}  // namespace

std::unique_ptr<Part> make_network(System& system) { return std::make_unique<Network>(system); }

}  // namespace mw::host
