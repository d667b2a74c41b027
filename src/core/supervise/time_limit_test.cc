#include "core/supervise/time_limit.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return words;
}

AttemptOutcome ended(int code, double lasted) {
  AttemptOutcome one;
  one.code = code;
  one.lasted = Duration::seconds(lasted);
  one.last_step = 12;
  return one;
}

}  // namespace

TEST_CASE("the time limit that a command sets") {
  for (const auto& [text, seconds] : {std::pair{"timeout 8h python train.py", 28800.0},
                                      {"nice -n 10 timeout 90 python train.py", 90.0},
                                      {"env A=1 nohup /usr/bin/timeout -v --foreground 1.5m bash train.sh", 90.0},
                                      {"timeout -k 30 -s INT 2d python train.py", 172800.0},
                                      {"timeout --signal=KILL --kill-after=5 -- 3s python", 3.0}}) {
    const std::string line = text;
    CAPTURE(line);
    const auto limit = time_limit_of(words_of(line));
    REQUIRE(limit);
    CHECK(limit->after == Duration::seconds(seconds));
  }
  CHECK(time_limit_of(words_of("timeout -k 30 -s INT 2d python train.py"))->words == 6);
  CHECK(time_limit_of(words_of("timeout -s KILL 2d python"))->kills);
  CHECK_FALSE(time_limit_of(words_of("timeout -s INT 2d python"))->kills);
  for (const std::string line : {"python train.py", "timeout 0 python", "timeout", "timeout -k", "timeout -s",
                                 "timeout x", "python timeout 8h", "timeout nan python", "timeout 1e300d python"}) {
    CAPTURE(line);
    CHECK_FALSE(time_limit_of(words_of(line)));
  }
}

TEST_CASE("an attempt that its command's time limit ended, and one of which something else was the end") {
  const auto limit = words_of("timeout 8h python train.py"), kills = words_of("timeout -k 60 8h python train.py");
  const auto script = words_of("bash train.sh");
  CHECK(ended_by_limit(limit, ended(124, 28800.1)) == "timeout 8h");
  CHECK(ended_by_limit(limit, ended(124, 28799.5)) == "timeout 8h");
  CHECK(ended_by_limit(limit, ended(124, 100)).empty());    // one of its own within the script
  CHECK(ended_by_limit(limit, ended(1, 28800.1)).empty());  // it failed just then
  CHECK(ended_by_limit(limit, ended(137, 28860)).empty());
  CHECK(ended_by_limit(kills, ended(137, 28860)) == "timeout 8h");
  CHECK(ended_by_limit(kills, ended(137, 9000)).empty());
  CHECK(ended_by_limit(script, ended(124, 9000)) == "timeout");
  AttemptOutcome untrained = ended(124, 60);
  untrained.last_step = kNoStep;  // `timeout 60 wait_for_server || exit`
  CHECK(ended_by_limit(script, untrained).empty());
  AttemptOutcome failed = ended(124, 9000);
  failed.kind = "gpu-out-of-memory";
  CHECK(ended_by_limit(script, failed).empty());
  AttemptOutcome unknown = ended(124, 28800.1);
  unknown.known = false;
  CHECK(ended_by_limit(limit, unknown).empty());
}

}  // namespace mw
