#include "ui/view/machine.h"

#include <doctest/doctest.h>

#include <cmath>

#include "ui/report/markdown_tables.h"
#include "ui/testing/fake_run.h"

namespace mw {
namespace {

State machine_run() {
  FakeRun run;
  run.measure(1, 0.5);
  const double busy[] = {0, 100, 50, 2};
  for (int i = 0; i < 4; ++i) {
    run.measure(i + 1, busy[i], "", "system/gpu.10.gpu").measure(i + 1, 40.0 + i, "", "system/gpu.10.temp");
    run.measure(i + 1, 1e9 * i, "", "system/gpu.2.memoryAllocatedBytes");
    run.measure(i + 1, 70.0 + i, "", "system/disk./.usagePercent").measure(i + 1, 3, "", "system/network.sent");
  }
  run.measure(1, std::nan(""), "", "system/gpu.2.gpu").measure(1, 5, "", "system/gpu.process|x.gpu");
  return std::move(run.state);
}

TEST_CASE("one line per GPU, in the order of their numbers, and the host") {
  const State state = machine_run();
  const MachineView view = machine_view(state, {});
  REQUIRE(view.gpus.size() == 2);
  CHECK(view.gpus[0].index == "2");
  CHECK(view.gpus[0].memory_bytes == 3e9);
  CHECK(std::isnan(view.gpus[0].busy));  // a sample that is not a number is none
  CHECK(view.gpus[1].busy == doctest::Approx(38));
  CHECK(view.gpus[1].idle == doctest::Approx(0.5));
  CHECK(view.gpus[1].celsius == 43);
  REQUIRE(view.host.size() == 1);
  CHECK(view.host[0].what == "disk / in use, peak");
  CHECK(view.host[0].value == 73);
  CHECK(machine_view(State{}, {}).empty());
}

TEST_CASE("every sample counts once, in a long run and within a step") {
  FakeRun run;
  double sum = 0;
  constexpr int kSamples = 40'000;  // more than a series keeps
  for (int i = 0; i < kSamples; ++i) {
    const double watts = i < kSamples / 2 ? 100 : 300 + i % 7;
    sum += watts;
    run.measure(1 + i / 50, watts, "", "system/gpu.0.powerWatts");
    run.measure(1 + i / 50, i < kSamples / 4 ? 0 : 80, "", "system/gpu.0.gpu");
  }
  const MachineView view = machine_view(run.state, {});
  REQUIRE(view.gpus.size() == 1);
  CHECK(view.gpus[0].watts == doctest::Approx(sum / kSamples));
  CHECK(view.gpus[0].busy == doctest::Approx(60));
  CHECK(view.gpus[0].idle == doctest::Approx(0.25).epsilon(0.01));
  const MachineView later = machine_view(run.state, {1 + kSamples / 100, {}});
  CHECK(later.gpus[0].watts == doctest::Approx(303).epsilon(0.01));
  CHECK(later.gpus[0].idle == 0);
}

TEST_CASE("what servers count is shown by server and metric") {
  State state;
  fold(state, {{}, {0, 0}, event::SourceOpened{0, "host:scrape", std::string(kHostKind), 0}});
  const auto at = [](int64_t s) { return Time{1'700'000'000'000'000'000 + s * 1'000'000'000}; };
  fold(state, {at(1), {0, 1}, event::Measured{kNoStep, false, {{"scrape.gateway", "depth", 3}}}});
  fold(state, {at(2), {0, 2}, event::Measured{kNoStep, false, {{"scrape.gateway", "depth", 9}}}});
  fold(state, {at(3), {0, 3}, event::Measured{kNoStep, false, {{"engine.kv_usage", "engine", 0.5}}}});
  const MachineView view = machine_view(state, {});
  REQUIRE(view.host.size() == 3);
  CHECK(view.host[0].what == "engine: memory for keys and values in use, peak");
  CHECK((view.host[0].value == 50 && view.host[0].unit == "%"));
  CHECK((view.host[1].what == "gateway: depth, least" && view.host[1].value == 3));
  CHECK((view.host[2].what == "gateway: depth, most" && view.host[2].value == 9));
}

TEST_CASE("the report has the machine's rows in a table of their own only") {
  const std::string text = markdown_tables(machine_run(), {});
  CHECK(text.find("| 10 | 38 % | 50 % |  |  | 43 °C |  |") != std::string::npos);
  CHECK(text.find("system/") == std::string::npos);
}

}  // namespace
}  // namespace mw
