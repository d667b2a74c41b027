#include "sense/host/host_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "base/text.h"

namespace mw {
namespace {

class FakeWriter final : public EventWriter {
 public:
  Result<uint32_t> intend(event::Intended) override { return uint32_t{1}; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string& source, event::Measured&& figures) override {
    for (const Reading& reading : figures.readings)
      lines.push_back(cat(source, " ", reading.signal(), " ", reading.raw(), " ", reading.value));
  }
  void observed(const std::string& source, event::Matched&& match) override {
    lines.push_back(cat(source, " ", match.signature, " ", match.text));
  }
  void observed(const std::string&, event::CheckpointSeen&&) override {}
  void observed(const std::string& source, event::SourceProblem&& problem) override {
    lines.push_back(cat(source, " ", problem.problem));
  }
  void judge() override { ++judged; }

  bool has(std::string_view part) const {
    for (const std::string& line : lines) {
      if (contains(line, part)) return true;
    }
    return false;
  }
  std::vector<std::string> lines;
  int judged = 0;
};

const KnowledgeBase& knowledge() {
  static const auto loaded = KnowledgeBase::load({});
  REQUIRE(loaded.ok());
  return **loaded;
}

TEST_CASE("changes are emitted at once or within the minute, what swings as its mean, and all of it now and then") {
  HostLedger ledger;
  std::vector<Reading> emitted;
  const auto note = [&](std::string_view signal, double value, double at) {
    emitted.clear();
    ledger.note(signal, "x", value, Duration::seconds(at), emitted);
    return !emitted.empty();
  };
  CHECK(note("disk.free", 100e9, 0));
  CHECK_FALSE(note("disk.free", 99.9e9, 10));
  CHECK(note("disk.free", 80e9, 20));        // a fifth at once
  CHECK_FALSE(note("disk.free", 77e9, 30));  // less than a tenth
  CHECK(note("disk.free", 77e9, 85));        // ... is emitted a minute later
  CHECK_FALSE(note("disk.free", 77e9, 600));
  CHECK(note("disk.free", 77e9, 700));  // nothing changed for ten minutes
  CHECK(note("disk.free", 2e6, 710));
  CHECK(note("disk.free", 0, 720));  // a small disk that is full is full at once
  CHECK(note("host.cpu", 1, 0));
  for (int i = 1; i < 6; ++i) CHECK_FALSE(note("host.cpu", i % 2, 10 * i));
  CHECK(note("host.cpu", 0, 60));
  CHECK(emitted[0].value == doctest::Approx(0.5));
  CHECK(note("host.oom_kills", 0, 0));
  CHECK_FALSE(note("host.oom_kills", 0, 10));
  CHECK(note("host.oom_kills", 1, 20));
  CHECK_FALSE(note("disk.free", std::numeric_limits<double>::quiet_NaN(), 3000));
}

TEST_CASE("a round comes every ten seconds, reports what it saw, and never waits for slow calls") {
  FakeClock clock;
  auto owned = std::make_unique<FakeSystem>();
  FakeSystem& system = *owned;
  system.files["/proc/meminfo"] = "MemTotal: 64000000 kB\nMemAvailable: 40000000 kB\n";
  system.files["/proc/self/mounts"] = "a /data ext4 rw 0 0\n";
  system.spaces["/data"] = {50'000'000'000, 100'000'000'000, 0, 0};
  HostWatch watch(clock, knowledge(), {std::move(owned), nullptr, {"/data/run"}, {}});
  FakeWriter writer;
  const State state;
  const auto round = [&] {
    for (int i = 0; i < 3000; ++i) {
      const auto wait = watch.turn(state, true, writer);
      REQUIRE(wait.has_value());
      if (*wait > HostWatch::kPoll) return *wait;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Duration{};
  };
  CHECK(round() == HostWatch::kPeriod);
  CHECK(writer.has("host:memory host.memory.free machine"));
  CHECK(writer.has("host:disks disk.free /data"));
  const int judged = writer.judged;  // once or twice, as slow calls come back
  CHECK(judged >= 1);
  const size_t first = writer.lines.size();
  clock.pass(Duration::seconds(4));
  CHECK(round() == Duration::seconds(6));
  CHECK(writer.lines.size() == first);
  clock.pass(Duration::seconds(6));
  round();
  CHECK(writer.lines.size() == first);  // nothing changed
  CHECK(writer.judged == judged);
  system.spaces["/data"].free = 1'000'000;
  clock.pass(HostWatch::kPeriod);
  round();
  CHECK(writer.lines.size() == first + 1);
  CHECK(writer.judged == judged + 1);
}

TEST_CASE("the kernel's words and the GPU driver's become matches of the signatures that know them") {
  FakeClock clock;
  auto owned = std::make_unique<FakeSystem>();
  FakeSystem& system = *owned;
  HostWatch watch(clock, knowledge(), {std::move(owned), nullptr, {}, {}});
  FakeWriter writer;
  const auto round = [&] {
    for (int i = 0; i < 3000; ++i) {
      if (*watch.turn(State(), true, writer) > HostWatch::kPoll) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    clock.pass(HostWatch::kPeriod);
  };
  round();
  system.log = {"NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python, GPU has fallen off the bus.",
                "NVRM: Xid (PCI:0000:1b:00): 94, as NVML reports", "nfs: server 10.1.2.3 not responding, still trying"};
  round();
  CHECK(writer.has("host:kernel-log xid-79-fallen-off-bus NVRM: Xid (PCI:0000:3b:00): 79"));
  CHECK(writer.has("host:kernel-log xid-94-contained-ecc"));
  CHECK(writer.has("host:kernel-log nfs-server-not-responding"));
}

}  // namespace
}  // namespace mw
