#include "app/begin_run.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {

TEST_CASE("runs of one command that begin within one second have names of their own") {
  FakeDisk disk;
  const Time now = Time::from_seconds(1'771'492'091);
  const auto next = [&] { return new_run_name(disk, "/home/x", now, {"python3", "-u", "train.py"}); };
  const std::string first = next();
  CHECK(first.ends_with("-train-py"));
  disk.put(cat(run_folder_of("/home/x", first), "/run.json"), "{}");
  CHECK(next() == cat(first, "-2"));
  disk.put(cat(run_folder_of("/home/x", next()), "/run.json"), "{}");
  CHECK(next() == cat(first, "-3"));
  CHECK(is_run_name(next()));
}

}  // namespace mw
