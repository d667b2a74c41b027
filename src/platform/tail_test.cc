#include "platform/tail.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "platform/real/posix_disk.h"

namespace mw {
namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/midwatch-tail-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { CHECK(std::system(("rm -rf " + path).c_str()) == 0); }
  std::string path;
};

void write(const std::string& path, const std::string& text, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  REQUIRE(file != nullptr);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

/// Reads until nothing is left; '|' marks each new beginning.
std::string drain(Tail& tail, size_t most = 5) {
  std::string all, piece;
  for (int i = 0; i < 1000; ++i) {
    const auto news = tail.read(most, piece);
    REQUIRE(news.ok());
    if (*news == Tail::News::kBytes) all += piece;
    if (*news == Tail::News::kBeganAnew) all += "|";
    if (*news == Tail::News::kNothing || *news == Tail::News::kGone) return all;
  }
  FAIL("never came to an end");
  return all;
}

}  // namespace

TEST_CASE("tail: a file that is replaced by a longer copy of it goes on") {
  const Folder folder;
  const auto disk = make_posix_disk();
  const std::string path = folder.path + "/train.log", copy = folder.path + "/.train.log.x";
  const auto replace = [&](const std::string& text) {
    write(copy, text, "w");
    REQUIRE(std::rename(copy.c_str(), path.c_str()) == 0);
  };
  Tail tail(*disk, path);
  replace("one\ntw");
  CHECK(drain(tail) == "one\ntw");
  replace("one\ntwo\n");
  CHECK(drain(tail).empty());  // it moves to the copy
  CHECK(drain(tail) == "o\n");
  replace("one\ntwo\n");
  CHECK(drain(tail).empty());
  CHECK(drain(tail).empty());
  replace("one\ntwo\nthree\n");
  CHECK(drain(tail).empty());
  CHECK(drain(tail) == "three\n");
  replace("one\n");  // not all that was read
  CHECK(drain(tail) == "|one\n");
  replace("two\nthree\n");
  CHECK(drain(tail) == "|two\nthree\n");
}

TEST_CASE("tail: grows, is rotated with lines still unread, is truncated, is re-created, vanishes and comes back") {
  const Folder folder;
  const auto disk = make_posix_disk();
  const std::string path = folder.path + "/train.log";
  Tail tail(*disk, path);
  CHECK(drain(tail) == "");
  write(path, "one\ntwo\n", "w");
  CHECK(drain(tail) == "one\ntwo\n");
  write(path, "three\n", "a");
  REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
  write(path + ".1", "four\n", "a");
  write(path, "five\n", "w");
  CHECK(drain(tail) == "three\nfour\n|five\n");
  write(path, "six\n", "w");  // truncated in place, shorter
  CHECK(drain(tail) == "|six\n");
  write(path, "a different beginning, longer than before\n", "w");
  CHECK(drain(tail) == "|a different beginning, longer than before\n");
  REQUIRE(unlink(path.c_str()) == 0);
  CHECK(drain(tail) == "");
  write(path, "seven\n", "w");
  CHECK(drain(tail).find("seven\n") != std::string::npos);
}

}  // namespace mw
