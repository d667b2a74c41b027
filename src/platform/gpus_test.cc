#include "platform/gpus.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/text.h"

namespace mw {
namespace {

/// A file of this process's own under /tmp, removed with it.
class Scratch {
 public:
  explicit Scratch(std::string_view name) : path_(cat("/tmp/midwatch-gpus-", getpid(), "-", name)) {}
  ~Scratch() { unlink(path_.c_str()); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void write(std::string_view text) const { std::ofstream(path_) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("NVML shows eight GPUs, what becomes of them, and what the driver reports") {
  const Scratch world("world");
  setenv("MIDWATCH_STUB_NVML", world.path().c_str(), 1);
  world.write("gpus 8\n");
  const auto gpus = make_nvml(MW_NVML_STUB);
  auto look = gpus->look();
  REQUIRE(look.ok());
  REQUIRE(look->gpus.size() == 8);
  const GpuFigures& first = look->gpus[0];
  CHECK(first.index == "0");
  CHECK(first.memory_used == 60000.0 * 1048576);
  CHECK(first.memory_size == 80000.0 * 1048576);
  CHECK(first.busy >= 0.9);
  CHECK(first.memory_busy == doctest::Approx(0.4));
  CHECK(first.watts == 640);
  CHECK(first.celsius == 61);
  CHECK(first.megahertz == 1755);
  CHECK(first.slowed == 0);  // at its power cap, as a busy GPU is
  CHECK(first.uncorrected == 0);
  CHECK(look->lines.empty());

  world.write("gpus 8\nused 2 0\nslowed 3\necc 4 2\nlost 5\nxid 5 79\n");
  look = gpus->look();
  REQUIRE(look.ok());
  CHECK(look->gpus[2].memory_used == 0);
  CHECK(look->gpus[3].slowed == 1);
  CHECK(look->gpus[4].uncorrected == 2);
  CHECK(look->gpus[5].lost);
  CHECK_FALSE(look->gpus[6].lost);
  REQUIRE(look->lines.size() == 1);
  CHECK(look->lines[0] == "NVRM: Xid (PCI:00000000:20:00): 79, as NVML reports");
  CHECK(gpus->look()->lines.empty());  // each is reported once

  world.write("gpus 7\n");  // one is no longer counted
  look = gpus->look();
  REQUIRE(look.ok());
  REQUIRE(look->gpus.size() == 8);
  CHECK(look->gpus[7].lost);
  world.write("error 999\n");
  CHECK_FALSE(gpus->look().ok());
  world.write("gpus 8\n");
  CHECK(gpus->look().ok());
  unsetenv("MIDWATCH_STUB_NVML");
}

TEST_CASE("without a library, with one that is something else, and with a driver that refuses, there are no GPUs") {
  CHECK(make_nvml("libno-such-thing.so.1")->look().error().code == Error::Code::kNotFound);
  CHECK(make_nvml("libm.so.6")->look().error().code == Error::Code::kNotFound);
  const Scratch world("refuses");
  setenv("MIDWATCH_STUB_NVML", world.path().c_str(), 1);
  world.write("error 9\n");  // NVML_ERROR_DRIVER_NOT_LOADED
  CHECK_FALSE(make_nvml(MW_NVML_STUB)->look().ok());
  unsetenv("MIDWATCH_STUB_NVML");
}

TEST_CASE("nvidia-smi's lines, and what it does not know") {
  const auto gpu = parse_smi_line("3, 61035, 81559, 97, 688.21, 64, 1755, 0, 0x0000000000000044, 41\r");
  REQUIRE(gpu.ok());
  CHECK(gpu->index == "3");
  CHECK(gpu->memory_used == 61035.0 * 1048576);
  CHECK(gpu->busy == doctest::Approx(0.97));
  CHECK(gpu->memory_busy == doctest::Approx(0.41));
  CHECK(gpu->slowed == 1);
  const auto card = parse_smi_line("0, 300, 24564, [N/A], [N/A], 41, 210, [N/A], 0x0000000000000001, [N/A]");
  REQUIRE(card.ok());
  CHECK(std::isnan(card->busy));
  CHECK(std::isnan(card->memory_busy));
  CHECK(std::isnan(card->uncorrected));
  CHECK(card->slowed == 0);
  CHECK_FALSE(parse_smi_line("Unable to determine the device handle for GPU1: 0000:1B:00.0: GPU is lost.").ok());
  CHECK_FALSE(parse_smi_line("").ok());
  CHECK_FALSE(parse_smi_line("-1,,,,,,,,,").ok());
}

TEST_CASE("the nvidia-smi program is asked, and killed when it hangs") {
  const Scratch program("smi");
  const auto write = [&program](std::string_view body) {
    program.write(cat("#!/bin/sh\n", body));
    REQUIRE(chmod(program.path().c_str(), 0700) == 0);
  };
  write("echo \"0, 1, 2, 3, 4, 5, 6, 7, 0x0, 9\"\necho \"GPU is lost.\"\n");
  auto look = make_nvidia_smi(program.path(), 10)->look();
  REQUIRE(look.ok());
  CHECK(look->gpus.size() == 1);
  CHECK(look->lines == std::vector<std::string>{"GPU is lost."});
  write("exec sleep 100\n");
  CHECK(make_nvidia_smi(program.path(), 0.2)->look().error().code == Error::Code::kInterrupted);
  write("exit 9\n");
  CHECK_FALSE(make_nvidia_smi(program.path(), 10)->look().ok());
  CHECK_FALSE(make_nvidia_smi("/no/such/program", 10)->look().ok());
}

}  // namespace
}  // namespace mw
