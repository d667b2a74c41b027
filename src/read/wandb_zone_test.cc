#include "read/wandb_zone.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/files/testing/encode.h"
#include "read/run_reader.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// "09:10:00", or "09:10:00 as UTC" where its zone is not known.
std::string first_time_in_log(FakeDisk& disk, const std::string& zone) {
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.set_zone(zone).ok());
  REQUIRE(reader.open({"/run"}, "").ok());
  reader.read_all({});
  reader.close();
  for (const SourceState& source : reader.state().sources) {
    if (source.path.ends_with("train.log"))
      return cat(format_utc(source.first_at).substr(11, 8), source.clock_lacks.zone ? " as UTC" : "");
  }
  return "not read";
}

TEST_CASE("clocks without a zone are in that of the machine, where W&B's folder shows it") {
  const auto first_of = [](const std::string& folder, const std::string& zone, const std::string& second = "") {
    FakeDisk disk;
    for (const std::string& name : {folder, second}) {
      encode::Wandb wandb;
      wandb.run("ab12cd34", "grpo", {}, parse_time("2026-02-19T09:08:11Z")->ns / 1'000'000);
      wandb.exit(0, 60);
      if (!name.empty()) disk.put(cat("/run/wandb/", name, "/run-ab12cd34.wandb"), wandb.bytes());
    }
    disk.put("/run/train.log", "2026-02-19 17:10:00 step 1 | loss 0.5 | reward 0.25\n");
    return first_time_in_log(disk, zone);
  };
  CHECK(first_of("run-20260219_170811-ab12cd34", "") == "09:10:00");
  CHECK(first_of("offline-run-20260219_170812-ab12cd34", "") == "09:10:00");
  CHECK(first_of("run-20260219_170811-ab12cd34", "+01:00") == "16:10:00");
  CHECK(first_of("run-20260219_090811-ab12cd34", "") == "17:10:00");         // UTC, and known to be
  CHECK(first_of("run-20260219_171500-ab12cd34", "") == "17:10:00 as UTC");  // no zone is 8 h 7 min off
  CHECK(first_of("run-today_and_later", "") == "17:10:00 as UTC");
  CHECK(first_of("run-20260219_170811-ab12cd34", "", "run-20260219_180811-ab12cd34") == "17:10:00 as UTC");
}

TEST_CASE("lines of the console that say their own time show the zone of the log beside") {
  const auto first_of = [](int lines, int64_t later_s) {
    FakeDisk disk;
    encode::Wandb wandb;
    const int64_t start = parse_time("2026-02-19T09:08:11Z")->ns / 1'000'000;
    wandb.run("ab12cd34", "grpo", {}, start);
    for (int64_t i = 0; i < lines; ++i)
      wandb.output(cat("2026-02-19 17:08:", 12 + i, ",000 - INFO - line\n"), true,
                   start + 2000 + (i + later_s * i) * 1000);
    disk.put("/run/run-ab12cd34.wandb", wandb.bytes());
    disk.put("/run/train.log", "2026-02-19 17:10:00 step 1 | loss 0.5 | reward 0.25\n");
    return first_time_in_log(disk, "");
  };
  CHECK(first_of(5, 0) == "09:10:00");
  CHECK(first_of(2, 0) == "17:10:00 as UTC");     // too few
  CHECK(first_of(5, 1000) == "17:10:00 as UTC");  // taken at any time after they were written
}

}  // namespace
}  // namespace mw
