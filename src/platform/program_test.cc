#include "platform/program.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace mw {
namespace {

ProgramRequest shell(std::string script) {
  ProgramRequest request;
  request.command = {"sh", "-c", std::move(script)};
  return request;
}

TEST_CASE("a program gets its input, and its output and end come back") {
  ProgramRequest request = shell("cat; echo \"$WORD\" >&2; pwd; exit 3");
  request.input = std::string(1 << 20, 'x') + "\n";
  request.environment["WORD"] = "of the test";
  request.folder = "/usr";
  request.output_limit = size_t{4} << 20;
  const auto end = run_program(request);
  REQUIRE(end.ok());
  CHECK(end->code == 3);
  CHECK(end->output == request.input + "of the test\n/usr\n");
  CHECK_FALSE(end->late);
}

TEST_CASE("one that opens /dev/stdin twice reads its input twice") {
  ProgramRequest request = shell("cat /dev/stdin /dev/stdin; cat; cat");
  request.input = "word\n";
  const auto end = run_program(request);
  REQUIRE(end.ok());
  CHECK(end->output == "word\nword\nword\n");
}

TEST_CASE("one that does not read, floods, or dies is no trouble") {
  ProgramRequest request = shell("exec head -c 5000000 /dev/zero");
  request.input = std::string(1 << 20, 'x');
  request.output_limit = 1000;
  const auto flood = run_program(request);
  REQUIRE(flood.ok());
  CHECK(flood->output.size() == 1000);
  CHECK(flood->dropped == 4'999'000);
  const auto died = run_program(shell("kill -9 $$"));
  REQUIRE(died.ok());
  CHECK((died->code == -1 && died->signal == SIGKILL));
}

TEST_CASE("one that is not there is an error") {
  ProgramRequest request;
  request.command = {"/nowhere/at-all"};
  const auto end = run_program(request);
  REQUIRE_FALSE(end.ok());
  CHECK(end.error().code == Error::Code::kNotFound);
  CHECK_FALSE(run_program(ProgramRequest()).ok());
}

TEST_CASE("one that hangs is asked to end, then killed, with all that it started") {
  const auto began = std::chrono::steady_clock::now();
  ProgramRequest request = shell("trap '' TERM; sleep 100 & echo $!; wait; sleep 100");
  request.limit = Duration::millis(200);
  request.grace = Duration::millis(200);
  const auto end = run_program(request);
  REQUIRE(end.ok());
  CHECK(end->late);
  CHECK(end->signal == SIGKILL);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
  const pid_t sleeper = static_cast<pid_t>(std::stol(end->output));
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {  // whoever inherits it reaps it
    gone = kill(sleeper, 0) != 0;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (FILE* file = std::fopen(("/proc/" + std::to_string(sleeper) + "/stat").c_str(), "r"); file != nullptr) {
      char name[64], letter = 'R';
      if (std::fscanf(file, "%*d %63s %c", name, &letter) == 2) gone = gone || letter == 'Z';
      std::fclose(file);
    }
  }
  CHECK(gone);
}

TEST_CASE("what it leaves behind does not keep us waiting") {
  const auto began = std::chrono::steady_clock::now();
  const auto end = run_program(shell("sleep 100 & exit 0"));
  REQUIRE(end.ok());
  CHECK(end->code == 0);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
}

}  // namespace
}  // namespace mw
