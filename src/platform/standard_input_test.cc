#include "platform/standard_input.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace mw {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    close(ends[0]);
    end();
  }
  void put(std::string_view text) const {
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  std::string rest() const {
    std::string text(200'000, 0);
    const ssize_t got = read(ends[0], text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return text;
  }
};

}  // namespace

TEST_CASE("what writers left in a pipe is given, and stays in it") {
  for (const size_t bytes : {size_t{10}, size_t{5000}, size_t{65536}}) {
    Pipe pipe;
    const std::string text(bytes, 'x');
    pipe.put(text);
    pipe.end();
    const auto given = given_input(pipe.ends[0], false);
    REQUIRE(given.ok());
    CHECK(given->text == text);
    CHECK_FALSE(given->open);
    CHECK(pipe.rest() == text);
  }
}

TEST_CASE("a pipe that somebody still writes to is left alone, and said to be open once something is in it") {
  Pipe pipe;
  auto given = given_input(pipe.ends[0], false);
  REQUIRE(given.ok());
  CHECK_FALSE(given->open);
  pipe.put("one\n");
  given = given_input(pipe.ends[0], false);
  REQUIRE(given.ok());
  CHECK(given->open);
  CHECK(given->text.empty());
  pipe.end();
  CHECK(pipe.rest() == "one\n");
}

TEST_CASE("a program is read to its end, and a stop ends the wait for it") {
  Pipe pipe;
  std::thread late([&pipe] {
    for (int i = 0; i < 3; ++i) {
      usleep(150'000);
      pipe.put("line\n");
    }
    pipe.end();
  });
  const auto given = given_input(pipe.ends[0], true);
  late.join();
  REQUIRE(given.ok());
  CHECK(given->text == "line\nline\nline\n");
  Pipe silent;
  CHECK_FALSE(given_input(silent.ends[0], true, [] { return true; }).ok());
}

TEST_CASE("a file is given from its present place on, which stays") {
  char path[] = "/tmp/midwatch-input-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  REQUIRE(write(file, "taken\nleft\n", 11) == 11);
  REQUIRE(lseek(file, 6, SEEK_SET) == 6);
  const auto given = given_input(file, false);
  REQUIRE(given.ok());
  CHECK(given->text == "left\n");
  CHECK(lseek(file, 0, SEEK_CUR) == 6);
  REQUIRE(ftruncate(file, static_cast<off_t>(kMostInput) + 10) == 0);
  CHECK(given_input(file, false).error().code == Error::Code::kUnsupported);
  unlink(path);
  close(file);
}

TEST_CASE("a device and a file that is closed hold nothing") {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK(given_input(nothing, false)->text.empty());
  CHECK(given_input(nothing, true)->text.empty());
  close(nothing);
  CHECK(given_input(nothing, false)->text.empty());
}

}  // namespace mw
