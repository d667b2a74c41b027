// What reading all bytes of checkpoints found, and what that means for who goes back to one; pointers that are wrong.
#include "core/checkpoint_trust.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/resume_advice.h"
#include "core/said_run_for_test.h"
#include "core/shipments.h"

namespace mw {
namespace {

using Seen = event::CheckpointSeen::How;
using Read = event::CheckpointRead::How;

struct Run : SaidRun {
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    steps(1, 60);
  }
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  }
  static std::string path(int64_t step) { return cat("/c/step_", step); }
  void seen(int64_t step, Seen how = Seen::kWhole) {
    say(event::CheckpointSeen{step, path(step), how, "", "", 100, 2, ""}, 1);
  }
  void read(int64_t step, Read how, const char* what = "") {
    say(event::CheckpointRead{step, path(step), how, what, 7, 100, 2.0}, 1);
  }
  void pointer(bool right, int64_t step) {
    say(event::PointerSeen{"/c/latest.txt", right, right ? "" : cat("it names step ", step, ", which is not there"),
                           step, 40, "/c/step_40"},
        1);
  }
  std::vector<const Incident*> of(std::string_view kind) const {
    std::vector<const Incident*> found;
    for (const Incident& incident : state.incidents) {
      if (incident.kind == kind) found.push_back(&incident);
    }
    return found;
  }
};

constexpr const char* kNan = "model.safetensors: 3 of the 4096 numbers of layers.0.mlp are NaN";

TEST_CASE("how far a run came, and how far it can come at the most") {
  Run run;
  CHECK(furthest_named(run.state) == 60);
  CHECK(furthest_planned(run.state) == kNoStep);
  CHECK(furthest_saved(run.state) > 65);
  run.say(event::Planned{64});
  CHECK(furthest_planned(run.state) == 65);
  CHECK(furthest_saved(run.state) == 65);
  run.state.framework = "trl";  // its records name no steps
  CHECK(furthest_named(run.state) == kNoStep);
  run.say(event::Progressed{"", 62, 64, 10});
  CHECK(furthest_named(run.state) == 62);
}

TEST_CASE("a checkpoint with numbers that are not sane is an incident that names the tensor and what to go back to") {
  Run run;
  for (const int64_t step : {20, 40}) {
    run.seen(step);
    run.read(step, Read::kSane);
  }
  CHECK(run.of("checkpoint-suspect").empty());
  run.seen(60);
  run.read(60, Read::kSuspect, kNan);
  const auto found = run.of("checkpoint-suspect");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->open);
  CHECK(found[0]->severity == Severity::kWarning);
  CHECK(contains(found[0]->summary, "layers.0.mlp"));
  CHECK(contains(found[0]->summary, "go back to step 40 (/c/step_40)"));
  run.seen(80);
  run.read(80, Read::kSane);
  CHECK_FALSE(run.of("checkpoint-suspect")[0]->open);
}

TEST_CASE("a checkpoint that was only skipped is no incident and no less sound") {
  Run run;
  run.seen(20);
  run.read(20, Read::kSkipped, "the next save began while it was read");
  CHECK(run.state.incidents.empty());
  const auto sound = newest_sound(run.state);
  REQUIRE(sound.has_value());
  CHECK(sound->step == 20);
  CHECK_FALSE(sound->read);
}

TEST_CASE("nobody is sent back to a checkpoint that was found unsound, nor is it shipped, until it is saved anew") {
  Run run;
  for (const int64_t step : {20, 40}) run.seen(step);
  run.read(20, Read::kSane);
  run.read(40, Read::kCorrupt, "model.pt: the bytes of data/0 do not have their checksum");
  CHECK(unsound_steps(run.state) == std::set<int64_t>{40});
  REQUIRE(unsound(run.state, "/c/step_40") != nullptr);
  CHECK(unsound(run.state, "/c/step_20") == nullptr);
  CHECK(unsound_reads(run.state).count("/c/step_40") == 1);
  CHECK(newest_sound(run.state)->step == 20);
  CHECK(newest_sound(run.state)->read);
  State crashed = run.state;
  crashed.verdict = "crashed";
  REQUIRE(resume_advice(crashed).has_value());
  CHECK(resume_advice(crashed)->step == 20);
  for (const Shipment& one : shipments(run.state)) CHECK((one.how == Shipment::How::kHeld) == (one.step == 40));
  run.seen(40);  // another save at the same place
  CHECK(unsound_steps(run.state).empty());
  CHECK(newest_sound(run.state)->step == 40);
  CHECK(unsound_reads(run.state).count("/c/step_40") == 1);  // whose tree it was, whoever looks can tell
  run.read(40, Read::kSane);
  CHECK(unsound_reads(run.state).empty());
}

TEST_CASE("of a step that is whole in one place and broken in another nothing is sound; nor what was found later") {
  Run run;
  run.seen(20);
  const Time then = run.state.checkpoint_scans.back().first.at;
  run.seen(40);
  run.say(event::CheckpointSeen{40, "/critic/step_40", Seen::kBroken, "no weights", "", 1, 1, ""}, 1);
  CHECK(newest_sound(run.state)->step == 20);
  run.seen(60);
  CHECK(newest_sound(run.state)->step == 60);
  CHECK(newest_sound(run.state, 60)->step == 20);
  CHECK(newest_sound(run.state, kNoStep, then)->step == 20);
  CHECK_FALSE(newest_sound(run.state, 20).has_value());
}

TEST_CASE("a wrong pointer is one warning until it is right, with the newest whole checkpoint") {
  Run run;
  run.pointer(false, 20);
  run.pointer(false, 20);
  auto found = run.of("checkpoint-pointer");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->severity == Severity::kWarning);
  CHECK(contains(found[0]->summary, "latest.txt in /c is wrong: it names step 20, which is not there"));
  CHECK(contains(found[0]->summary, "step 40 (/c/step_40)"));
  run.pointer(true, 40);
  found = run.of("checkpoint-pointer");
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0]->open);
  CHECK(run.state.attempts.size() == 1);  // it is no sign of life
  CHECK(run.state.attempts.back().last_step == 60);
}

}  // namespace
}  // namespace mw
