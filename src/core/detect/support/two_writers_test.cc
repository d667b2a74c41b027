#include "core/detect/support/two_writers.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/advance.h"
#include "core/said_run_for_test.h"

namespace mw::detect {
namespace {

/// Records that name no step but an epoch: midwatch counts them.
class Counted {
 public:
  void record(double epoch, double reward) {
    const double wave = static_cast<double>(count_ % 5);
    run_.say(event::Measured{++count_,
                             false,
                             {{"", "epoch", epoch},
                              {"reward.mean", "reward", reward + 0.01 * wave},
                              {"grad_norm", "grad_norm", reward + 0.3 + 0.02 * wave}},
                             true});
  }
  std::string found() const {
    const auto writers = two_writers(run_.state);
    return writers.empty() ? "" : cat(writers.begin()->second.heads, " ", writers.begin()->second.names);
  }
  bool went_back() const {
    for (const Incident& one : judge(run_.state, run_.knowledge))
      if (one.kind == "restart-from-scratch") return true;
    return false;
  }
  SaidRun& run() { return run_; }

 private:
  SaidRun run_;
  int64_t count_ = 0;
};

TEST_CASE("two runs whose records name no step go to and fro between two epochs, and the later is no restart") {
  Counted two;
  two.run().say(event::Recognised{"transformers", "", 1});
  for (int i = 1; i <= 40; ++i) two.record(i * 0.01, 0.5);
  two.run().say(event::AttemptBegan{"the epochs begin anew"});
  for (int i = 1; i <= 40; ++i) {
    two.record(i * 0.01, 0.1);
    two.record((40 + i) * 0.01, 0.6);
  }
  CHECK(contains(two.found(), "reward.mean, grad_norm"));
  CHECK(!two.went_back());
}

TEST_CASE("one run whose epochs rise, go back to a save, or that two ranks write is one writer's") {
  Counted one, back, ranks;
  for (int i = 1; i <= 80; ++i) one.record(i * 0.01, 0.5);
  for (int round = 0; round < 12; ++round)
    for (int i = 1; i <= 20; ++i) back.record((round * 10 + i) * 0.01, 0.5);
  for (int i = 1; i <= 80; ++i) {
    ranks.record(i * 0.01, 0.5);
    ranks.record((i > 1 ? i - 1 : i) * 0.01, 0.1);
  }
  CHECK(one.found().empty());
  CHECK(back.found().empty());
  CHECK(ranks.found().empty());
}

}  // namespace
}  // namespace mw::detect
