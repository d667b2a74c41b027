#include "core/supervise/verify.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/advance.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

/// A run whose reward becomes NaN and that crashes, as a watch records it.
struct Recorded {
  Knowledge knowledge;
  State state;
  std::vector<Event> journal;
  uint64_t line = 0;

  template <typename Body>
  void put(Body body) {
    Event event{Time{1'000'000'000 * static_cast<int64_t>(++line)}, {0, line}, std::move(body)};
    journal.push_back(event);
    std::vector<Event> decided;
    (void)advance(state, event, knowledge, Judge::kAlways, decided);
    journal.insert(journal.end(), decided.begin(), decided.end());
  }
  Recorded() {
    put(event::WatchBegan{"1", "00", ""});
    put(event::SourceOpened{0, "train.log", "text", 0, 0, 0});
    put(event::AttemptBegan{"banner"});
    for (int64_t step = 1; step <= 12; ++step) {
      const double reward = step < 6 ? 0.5 : 0.0 / 0.0;
      put(event::Measured{step, false, {{"reward.mean", "reward", reward}, {"loss.total", "loss", reward}}});
    }
    put(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
    put(event::Ticked{});
  }
  Verifier verify() const {
    Verifier verifier(knowledge, "00", "1");
    for (const Event& event : journal) verifier.take(event);
    verifier.finish();
    return verifier;
  }
};

TEST_CASE("what was recorded is judged again to the same") {
  const Recorded run;
  const Verifier verifier = run.verify();
  CHECK(verifier.judgements() > 1);
  CHECK_MESSAGE(verifier.differing() == 0, (verifier.differences().empty() ? "" : verifier.differences().front()));
  CHECK(verifier.same_knowledge());
  CHECK(verifier.state().verdict == run.state.verdict);
}

TEST_CASE("a decision that was changed, left out or made up is found") {
  const Recorded good;
  size_t found = 0, tried = 0;
  for (size_t i = 0; i < good.journal.size(); ++i) {
    if (const auto* given = std::get_if<event::VerdictGiven>(&good.journal[i].body)) {
      Recorded changed = good;
      changed.journal[i].body = event::VerdictGiven{given->verdict + "!"};
      ++tried;
      found += changed.verify().differing() > 0 ? 1 : 0;
      Recorded left_out = good;
      left_out.journal.erase(left_out.journal.begin() + static_cast<ptrdiff_t>(i));
      ++tried;
      found += left_out.verify().differing() > 0 ? 1 : 0;
    }
    if (std::holds_alternative<event::Measured>(good.journal[i].body)) {
      Recorded made_up = good;
      made_up.journal.insert(made_up.journal.begin() + static_cast<ptrdiff_t>(i),
                             {{}, {}, event::IncidentOpened{99, "{}"}});
      ++tried;
      found += made_up.verify().differing() > 0 ? 1 : 0;
    }
  }
  CHECK(tried > 10);
  CHECK(found == tried);
}

TEST_CASE("other knowledge is said, and a watch that was killed amid its decisions is no difference") {
  Recorded run;
  run.journal.insert(run.journal.begin() + 3, {{}, {}, event::WatchBegan{"1", "other", ""}});
  CHECK_FALSE(run.verify().same_knowledge());
}

TEST_CASE("decisions between attempts are made again from what they rested on") {
  Recorded run;
  std::vector<AttemptOutcome> all;
  for (int64_t attempt = 1; attempt <= 3; ++attempt) {
    AttemptOutcome outcome;
    outcome.signal = 9;
    outcome.last_step = outcome.last_checkpoint = 10 * attempt;
    all.push_back(outcome);
    const RestartLimits limits;
    const RestartDecision decision = after_end(all, limits);
    run.put(event::Decided{attempt, decision.restart, decision.wait.seconds(), decision.why,
                           facts_json({outcome, limits, decision}), false, "{}"});
  }
  CHECK(run.verify().decisions() == 3);
  CHECK(run.verify().differing() == 0);
  auto& last = std::get<event::Decided>(run.journal.back().body);
  auto facts = facts_from_json(last.facts);
  REQUIRE(facts);
  facts->decision.restart = !facts->decision.restart;
  last.facts = facts_json(*facts);
  CHECK(run.verify().differing() == 1);
  last.facts = "torn";
  CHECK(run.verify().differing() == 1);
}

}  // namespace
}  // namespace mw
