#include "act/cleanup/training_trees.h"

#include <doctest/doctest.h>

#include "act/cleanup/place_for_test.h"
#include "base/text.h"

namespace mw {
namespace {

TEST_CASE("what an earlier training left counts for none of the one that goes on") {
  Place p;  // which saves in /data/ck
  p.scope.roots.emplace_back("/data/first");
  p.scope.own.snapshot.folders["/data/first"];
  p.scope.own.declared.emplace("/data/first");
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  for (const int step : {30, 40, 50, 60}) p.put(cat("/data/first/step_", step, "/model.safetensors"), safetensors());
  p.put("/data/ck/latest", "30");
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 2;
  p.scope.facts.has_store = true;
  p.scope.facts.shipped = {10, 20, 30, 40};
  p.scope.facts.earlier["/data/first"] = {50, 60};
  CHECK(p.plan() == Names{"step_10", "step_20", "step_30", "step_40"});
  p.scope.facts.earlier["/data/first"] = {};  // nothing of that one is in the store
  CHECK(p.plan() == Names{"step_10", "step_20"});
}

}  // namespace
}  // namespace mw
