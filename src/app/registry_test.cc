#include "app/registry.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "app/find_run.h"
#include "app/note_by_hand.h"
#include "base/text.h"
#include "core/notes.h"
#include "platform/durable.h"
#include "platform/lock.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {
namespace {

/// A home with one recorded run, on the real disk.
struct Recorded {
  std::string home = "/tmp/midwatch-registry-XXXXXX";
  std::unique_ptr<Disk> disk = make_posix_disk();
  RunStatus status;

  Recorded() {
    REQUIRE(mkdtemp(home.data()) != nullptr);
    status.name = "one";
    status.folder = home + "/runs/one";
    const auto locks = make_posix_locks();
    auto recorder = Recorder::open(*disk, *locks, home, "one", {home});
    REQUIRE(recorder.ok());
    State state;
    REQUIRE((*recorder)->replay_into(state).ok());
    (*recorder)->record({{1'000'000'000}, {0, 0}, event::SourceOpened{0, "train.log", "text", 10}});
    (*recorder)->record({{1'000'000'000}, {0, 1}, event::Measured{3, false, {{"reward.mean", "reward", 0.5}}}});
    REQUIRE((*recorder)->sync().ok());
  }
  ~Recorded() { std::filesystem::remove_all(home); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  RunRecord record(bool live = false) {
    auto made = run_record(*disk, status, live);
    REQUIRE(made.ok());
    return *made;
  }
  std::string kept() const { return cat(status.folder, "/", kRecordFile); }
};

RunAsk note(std::string text, std::string_view kind, int64_t second) {
  RunAsk ask;
  ask.text = std::move(text);
  ask.kind = kind;
  ask.who = "mira@node7";
  ask.at.ns = second * 1'000'000'000;
  return ask;
}

TEST_CASE("the record of a run that is over is kept, and another journal has another record") {
  Recorded run;
  CHECK(run.record().step == 3);
  REQUIRE(run.disk->info(run.kept()).ok());
  CHECK(run.record().step == 3);  // as kept
  REQUIRE(note_by_hand(*run.disk, run.status.folder, note("ablation", kTag, 10)).ok());
  CHECK(run.record().tags == std::vector<std::string>{"ablation"});
  REQUIRE(note_by_hand(*run.disk, run.status.folder, note("profile first, password=hunter2abc", kLesson, 11)).ok());
  const RunRecord record = run.record();
  REQUIRE(record.notes.size() == 2);
  CHECK(record.notes[1].kind == kLesson);
  CHECK_FALSE(contains(record.notes[1].text, "hunter2abc"));
  CHECK(record.notes[1].who == "mira@node7");
}

TEST_CASE("a kept record that was changed, torn or emptied is made again") {
  Recorded run;
  run.record();
  const auto text = read_small(*run.disk, run.kept());
  REQUIRE(text.ok());
  std::string forged = *text;
  const size_t step = forged.find("\"step\":3");
  REQUIRE(step != std::string::npos);
  forged.replace(step, 8, "\"step\":9");
  for (const std::string& content : {forged, text->substr(0, text->size() / 2), std::string("{}\n{}"), std::string()}) {
    REQUIRE(write_privately(*run.disk, run.kept(), content).ok());
    CHECK(run.record().step == 3);
  }
}

TEST_CASE("nothing is kept of a live run") {
  Recorded run;
  CHECK(run.record(true).step == 3);
  CHECK_FALSE(run.disk->info(run.kept()).ok());
}

TEST_CASE("a run that was watched on another machine is live while its journal is written, and not once it is over") {
  RunStatus status;
  status.elsewhere = true;
  status.now = status.heard = Time::from_seconds(1'000'000);
  status.phase = RunStatus::Phase::kEnded;
  CHECK(is_live(status));  // maybe between two attempts
  status.phase = RunStatus::Phase::kOver;
  CHECK_FALSE(is_live(status));
}

TEST_CASE("nobody writes a note into the journal of a run that is watched") {
  Recorded run;
  const auto locks = make_posix_locks();
  auto watcher = Recorder::open(*run.disk, *locks, run.home, "one", {run.home});
  REQUIRE(watcher.ok());
  CHECK_FALSE(note_by_hand(*run.disk, run.status.folder, note("late", "", 12)).ok());
  CHECK(run.record(true).notes.empty());
}

}  // namespace
}  // namespace mw
