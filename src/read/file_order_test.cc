#include "read/file_order.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/files/testing/encode.h"
#include "read/run_reader.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string order(FakeDisk& disk, const std::vector<std::string>& paths) {
  std::vector<FoundFile> files;
  for (const std::string& path : paths) files.push_back({path, *disk.info(path), true, {}});
  put_in_order(disk, files);
  std::string names;
  for (const FoundFile& file : files) names += cat(file.path, " ");
  return names;
}

/// Steps from..to, a minute each from that clock on; "" for none.
std::string log_of(int64_t from, int64_t to, int64_t plan, const std::string& start) {
  std::string log = cat("Total training steps: ", plan, "\n");
  const Time at = start.empty() ? Time() : *parse_time(start);
  for (int64_t step = from; step <= to; ++step) {
    if (at.known())
      log += cat("(TaskRunner pid=71) INFO:",
                 format_utc(at + Duration::seconds(60.0 * static_cast<double>(step - from))).substr(0, 10), " ",
                 format_utc(at + Duration::seconds(60.0 * static_cast<double>(step - from))).substr(11, 8),
                 ",000:step done\n");
    log += cat("(TaskRunner pid=71) step:", step, " - critic/score/mean:0.", 100 + step, " - actor/grad_norm:0.25\n");
  }
  return log;
}

std::string wandb_of(const std::string& id, const char* start) {
  encode::Wandb wandb;
  wandb.run(id, "grpo", {}, parse_time(start)->ns / 1'000'000);
  wandb.exit(0, 60);
  return wandb.bytes();
}

}  // namespace

TEST_CASE("a log that was over when the other began is read first, whatever the order they are given in") {
  FakeDisk disk;
  disk.put("/b", log_of(1, 30, 60, "2026-11-20T08:00:00Z"));
  disk.put("/a", log_of(31, 60, 200, "2026-11-20T09:00:00Z"));
  disk.put("/c", log_of(61, 90, 200, "2026-11-20T10:00:00Z"));
  CHECK(order(disk, {"/a", "/b", "/c"}) == "/b /a /c ");
  CHECK(order(disk, {"/c", "/a", "/b"}) == "/b /a /c ");
  CHECK(order(disk, {"/b", "/a", "/c"}) == "/b /a /c ");
}

TEST_CASE("logs without a clock are in the order of their steps, others as they were given") {
  FakeDisk disk;
  disk.put("/b", log_of(1, 30, 60, ""));
  disk.put("/a", log_of(31, 60, 200, ""));
  CHECK(order(disk, {"/a", "/b"}) == "/b /a ");
  disk.put("/train.log", log_of(26, 60, 60, ""));  // resumed: the last steps are done again
  disk.put("/train.log.old", log_of(1, 30, 60, ""));
  CHECK(order(disk, {"/train.log", "/train.log.old"}) == "/train.log.old /train.log ");
  disk.put("/rank1", log_of(1, 30, 60, "2026-11-20T08:00:10Z"));
  disk.put("/rank0", log_of(1, 30, 60, "2026-11-20T08:00:00Z"));
  CHECK(order(disk, {"/rank1", "/rank0"}) == "/rank1 /rank0 ");  // at the same time
  disk.put("/job.err", log_of(1, 3, 60, "2026-11-20T08:00:00Z"));
  disk.put("/job.out", log_of(1, 30, 60, "2026-11-20T16:00:00Z"));
  CHECK(order(disk, {"/job.out", "/job.err"}) == "/job.out /job.err ");  // of one process
  disk.put("/settings.yaml", "a: 1\n");
  CHECK(order(disk, {"/settings.yaml", "/a", "/b"}) == "/settings.yaml /b /a ");
}

TEST_CASE("the files of a W&B run that was resumed are in the order of its starts") {
  FakeDisk disk;
  disk.put("/new.wandb", wandb_of("ab12cd34", "2026-02-20T09:08:11Z"));
  disk.put("/old.wandb", wandb_of("ab12cd34", "2026-02-19T09:08:11Z"));
  disk.put("/other.wandb", wandb_of("zz99zz99", "2026-02-18T09:08:11Z"));
  CHECK(order(disk, {"/new.wandb", "/old.wandb", "/other.wandb"}) == "/old.wandb /new.wandb /other.wandb ");
}

TEST_CASE("what a run planned last does not depend on the order of its files") {
  for (const std::string& start : {std::string("2026-11-20T08:00:00Z"), std::string()}) {
    FakeDisk disk;
    disk.put("/one.log", log_of(1, 60, 60, start));
    disk.put("/two.log", log_of(61, 120, 200, start.empty() ? "" : "2026-11-20T09:05:00Z"));
    for (const std::vector<std::string>& paths :
         {std::vector<std::string>{"/one.log", "/two.log"}, {"/two.log", "/one.log"}}) {
      RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
      REQUIRE(reader.open(paths, "").ok());
      reader.read_all({});
      reader.close();
      CHECK(reader.state().total_steps == 200);
      CHECK(reader.state().attempts.back().last_step == 120);
    }
  }
}

}  // namespace mw
