#include "ui/view/series_csv.h"

#include <doctest/doctest.h>

#include <limits>

#include "ui/testing/fake_run.h"

namespace mw {
namespace {

TEST_CASE("one line per attempt and step, a column per name, empty where nothing was recorded") {
  FakeRun run;
  run.measure(1, 0.5).measure(2, std::numeric_limits<double>::quiet_NaN());
  Series odd;
  odd.raw = "=HYPERLINK(\"x\"),y";
  odd.add({2, -1.5, {}, {}, 0});
  odd.add({1, 3, {}, {}, 1});
  Series machine;
  machine.raw = "system/gpu.0.temp";
  machine.add({2, 70, {}, {}, 0});
  run.state.series.push_back(odd);
  run.state.series.push_back(machine);
  const std::string csv = series_csv(run.state);
  CHECK(csv.substr(0, csv.find('\n')) == "attempt,step,time,reward.mean,\"'=HYPERLINK(\"\"x\"\"),y\"");
  CHECK(csv.find("\n1,1,") != std::string::npos);
  CHECK(csv.find(",0.5,\n") != std::string::npos);
  CHECK(csv.find(",nan,-1.5\n") != std::string::npos);
  CHECK(csv.find("\n2,1,,,3\n") != std::string::npos);
  CHECK(csv.find("70") == std::string::npos);
}

TEST_CASE("a run without figures has a head line only") { CHECK(series_csv(State()) == "attempt,step,time\n"); }

}  // namespace
}  // namespace mw
