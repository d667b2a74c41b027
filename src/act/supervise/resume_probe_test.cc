#include "act/supervise/resume_probe.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "platform/fake/fake_process.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

TEST_CASE("what somebody still writes is waited for, and is neither broken nor moved") {
  std::string root = "/tmp/midwatch-probe-XXXXXX";
  REQUIRE(mkdtemp(root.data()) != nullptr);
  std::ifstream sample(MW_SOURCE_DIR "/tests/checkpoints/single/best_val.pt", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(sample)), {});
  REQUIRE(whole.size() > 100);
  const auto put = [&](const char* name, std::string_view bytes) {
    std::ofstream file(cat(root, "/", name), std::ios::binary);
    file << bytes;
    file.flush();
    return file;
  };
  (void)put("ckpt_10.pt", whole);
  std::ofstream written = put("ckpt_20.pt", std::string_view(whole).substr(0, whole.size() / 2));
  FakeClock clock;
  std::vector<std::string> said;
  ResumeProbe probe(clock, make_posix_disk(), make_posix_system(), [&](const auto& one) { said.push_back(one); });
  const CheckpointLayout files{"ckpt_{step}.pt", "", ""};
  const auto ask = [&](double seconds) -> std::optional<LastWhole> {
    for (double t = 0; t < seconds; t += 0.1) {
      if (auto found = probe.ask({root}, files, kNoStep, {}, {})) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      clock.pass(Duration::millis(100));
    }
    return std::nullopt;
  };
  CHECK_FALSE(ask(20).has_value());
  REQUIRE(said.size() == 1);
  CHECK(contains(said[0], cat("waits for ", root, "/ckpt_20.pt, which a process still writes, 1m 00s at most")));
  written << std::string_view(whole).substr(whole.size() / 2);
  written.close();
  const auto found = ask(20);
  REQUIRE(found.has_value());
  CHECK(found->from == kNoStep);
  CHECK(found->kept == 20);
  for (const auto& seen : found->seen) CHECK(seen.how == event::CheckpointSeen::How::kWhole);

  std::ofstream stays = put("ckpt_30.pt", std::string_view(whole).substr(0, whole.size() / 2));
  const auto after = ask(70);  // not for ever
  REQUIRE(after.has_value());
  CHECK(after->from == kNoStep);
  for (const auto& seen : after->seen) CHECK(seen.how != event::CheckpointSeen::How::kBroken);
  stays.close();
  const auto broken = ask(20);
  REQUIRE(broken.has_value());
  CHECK(broken->from == 30);
  (void)system(cat("rm -rf ", root).c_str());
}

}  // namespace
}  // namespace mw
