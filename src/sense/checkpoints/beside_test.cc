#include "sense/checkpoints/beside.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

Time second(double s) { return Time{1'700'000'000'000'000'000} + Duration::seconds(s); }

/// A run that does a step every two seconds, looked at each second.
StepsInTime walked(int64_t last) {
  StepsInTime steps;
  for (int64_t s = 0; s <= 2 * last; ++s) steps.at(second(static_cast<double>(s)), s / 2);
  return steps;
}

TEST_CASE("what is made when the run is at a step belongs to it") {
  const StepsInTime steps = walked(60);
  CHECK(steps.fits(20, second(40.5)));
  CHECK(steps.fits(20, second(41.9)));
  CHECK_FALSE(steps.fits(20, second(30)));  // not reached yet
  CHECK_FALSE(steps.fits(20, second(60)));  // long passed
  CHECK_FALSE(steps.fits(80, second(110)));
  CHECK_FALSE(steps.fits(0, second(-100)));  // before the watch began
  CHECK_FALSE(StepsInTime().fits(0, second(1)));
  CHECK(steps.fits(60, second(500)));  // it stands at its last step, and saves
}

TEST_CASE("a folder is the run's when two of its checkpoints were made in time, and no other has any") {
  const StepsInTime steps = walked(60);
  std::map<std::string, SavedBeside> saved{{"/w/out/checkpoint-20", {20, second(40.7)}}};
  CHECK(steps.folder_of(saved).empty());
  saved["/w/out/checkpoint-40"] = {40, second(81)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/other/checkpoint-20"] = {20, second(55)};  // of a slower run
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/other/checkpoint-10"] = {10, second(20.5)};  // it was in step only then
  saved["/w/other/checkpoint-12"] = {12, second(25)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/twin/checkpoint-20"] = {20, second(40.5)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/twin/checkpoint-40"] = {40, second(80.5)};  // of one in step with this
  CHECK(steps.folder_of(saved).empty());
}

}  // namespace
}  // namespace mw
