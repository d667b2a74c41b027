#include "core/error_face.h"

#include <doctest/doctest.h>

#include "core/planted_run_for_test.h"

namespace mw {
namespace {

TEST_CASE("two errors are one failure when class, place and message agree") {
  const ErrorFace missing = face_of("KeyError", "'prompt'", "/w/a/data.py:31 in collate");
  CHECK(missing.file == "data.py");
  CHECK(missing.function == "collate");
  CHECK(missing.line == 31);
  CHECK_FALSE(differ(missing, face_of("KeyError", "'prompt'", "/w/b/data.py:34 in collate")));
  CHECK_FALSE(differ(missing, face_of("KeyError", "'prompt'", "")));
  CHECK_FALSE(differ(missing, {}));
  CHECK(differ(missing, face_of("KeyError", "'lm_head'", "/w/a/data.py:31 in collate")));
  CHECK(differ(missing, face_of("KeyError", "'prompt'", "/w/a/data.py:88 in collate")));
  CHECK(differ(missing, face_of("KeyError", "'prompt'", "/w/a/data.py:31 in pad")));
  CHECK(differ(missing, face_of("KeyError", "'prompt'", "/w/a/model.py:31 in collate")));
  CHECK(differ(missing, face_of("ValueError", "'prompt'", "/w/a/data.py:31 in collate")));
}

TEST_CASE("numbers, addresses and a few words of a long message differ from one attempt to the next") {
  const auto message = [](std::string_view text) { return face_of("ValueError", text, "a.py:3 in f"); };
  CHECK_FALSE(differ(message("bad token 7"), message("bad token 91")));
  CHECK_FALSE(differ(message("object at 0x7f2a is gone"), message("object at 0x81bc is gone")));
  CHECK_FALSE(differ(message("shard part_0031 of train is empty"), message("shard part_0112 of valid is empty")));
  CHECK(differ(message("bad token 7"), message("heads do not divide")));
  CHECK(differ(message("shard 7 of the prompts is missing"), message("the head count of the model is odd")));
}

TEST_CASE("of what a launcher reports, which part ended is the failure") {
  const auto message = [](std::string_view text) { return face_of("Error", text, ""); };
  CHECK(differ(message("Env failed with exit code -9"), message("Trainer failed with exit code -9")));
  CHECK(differ(message("Env failed with exit code -9"), message("Inference failed with exit code 1")));
  CHECK_FALSE(differ(message("Trainer failed with exit code -9"), message("Trainer failed with exit code -6")));
  CHECK_FALSE(differ(message("Worker 3 exited with code 1"), message("Worker 11 exited with code 1")));
}

/// Attempts that each do steps and end of one exception.
std::vector<Incident> crashes(const std::vector<event::TraceSeen>& ends) {
  PlantedRun run;
  int64_t step = 1;
  for (const event::TraceSeen& end : ends) {
    if (step > 1) run.restart();
    run.steps(step, step + 20);
    step += 10;
    run.trace(end.exception.c_str(), end.message.c_str(), end.frame.c_str());
    run.say(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
  }
  std::vector<Incident> found = run.close();
  std::erase_if(found, [](const Incident& one) { return one.severity != Severity::kCritical; });
  return found;
}

TEST_CASE("another error of a later attempt is an incident of its own, and came of nothing before") {
  const event::TraceSeen data{"w.DataHole", "shard 7 is missing", "/w/data.py:31 in collate"};
  const event::TraceSeen moved{"w.DataHole", "shard 9 is missing", "/w/data.py:33 in collate"};
  const event::TraceSeen model{"w.HeadMismatch", "16 heads and 14", "/w/model.py:88 in forward"};
  std::vector<Incident> found = crashes({data, moved});
  REQUIRE(found.size() == 1);
  CHECK(contains(found[0].summary, "the same in 2 attempts"));
  found = crashes({data, model});
  REQUIRE(found.size() == 2);
  CHECK(contains(found[0].summary, "DataHole"));
  CHECK(contains(found[1].summary, "HeadMismatch"));
  CHECK_FALSE(contains(found[0].summary, "the same in"));
  CHECK(found[0].followed_by.empty());
  found = crashes({data, model, moved});
  REQUIRE(found.size() == 2);
  CHECK(contains(found[0].summary, "the same in 2 attempts"));
  CHECK(found[0].latest.attempt == 2);
}

}  // namespace
}  // namespace mw
