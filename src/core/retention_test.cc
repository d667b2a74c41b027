#include "core/retention.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "base/text.h"
#include "core/retention_facts.h"
#include "core/state.h"

namespace mw {
namespace {

RetainedCheckpoint local(int64_t step) {
  RetainedCheckpoint one;
  one.step = step;
  one.whole = one.own = true;
  return one;
}

std::vector<RetainedCheckpoint> steps_10_to(int64_t last) {
  std::vector<RetainedCheckpoint> all;
  for (int64_t step = 10; step <= last; step += 10) all.push_back(local(step));
  return all;
}

std::set<int64_t> gone(std::vector<RetainedCheckpoint> all, const RetentionRules& rules, bool has_store = false) {
  std::set<int64_t> out;
  for (const RetentionVerdict& one : decide_retention(std::move(all), rules, has_store)) {
    CHECK_FALSE(one.why.empty());
    if (one.goes) out.insert(one.step);
  }
  return out;
}

using Steps = std::set<int64_t>;

TEST_CASE("the last ones, every so many steps and the best one are kept") {
  CHECK(gone(steps_10_to(60), {}).empty());
  CHECK(gone(steps_10_to(60), {2, 0, ""}) == Steps{10, 20, 30, 40});
  CHECK(gone(steps_10_to(60), {2, 20, ""}) == Steps{10, 30});
  auto scored = steps_10_to(60);
  scored[1].score = 0.5;
  scored[2].score = 0.9;
  CHECK(gone(scored, {2, 0, "reward.eval"}) == Steps{10, 20, 40});
  CHECK(gone(steps_10_to(60), {2, 0, "reward.eval"}).empty());  // which was the best is not known
  CHECK(gone(steps_10_to(20), {5, 0, ""}).empty());
}

TEST_CASE("a signal that is not known is named beside those that are") {
  State state;
  uint64_t line = 0;
  const auto say = [&](Event::Body body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0});
  say(event::Measured{5, true, {{"", "val-core/reward", 0.5}}});
  say(event::Measured{5, false, {{"reward.mean", "r", 0.5}}});
  const RetentionFacts facts = retention_facts(state, "reward.eval", false);
  CHECK(facts.known == "val-core/reward, reward.mean");
  const auto verdicts = decide_retention(steps_10_to(40), {1, 0, "reward.eval", facts.known}, false);
  CHECK(verdicts[1].why == "no value of reward.eval is known, but of val-core/reward, reward.mean");
  CHECK(verdicts[1].no_value);
  CHECK_FALSE(verdicts[1].goes);
  CHECK_FALSE(verdicts[3].no_value);  // it stays whatever is known
  CHECK(retention_facts(state, "val-core/reward", false).known.empty());
}

TEST_CASE("another run's checkpoint, or half of one, is no best for which the run's own goes") {
  for (const bool foreign : {true, false}) {
    auto all = steps_10_to(40);
    const double scores[] = {0.9, 0.5, 0.7, 0.1};
    for (size_t i = 0; i < all.size(); ++i) all[i].score = scores[i];
    (foreign ? all[0].own : all[0].paired) = false;
    CHECK(gone(all, {1, 0, "reward.mean", "", ""}) == Steps{20});
  }
}

TEST_CASE("of a loss the lowest is the best, of a reward the highest, and of what says neither the rule has to") {
  State state;
  uint64_t line = 0;
  const auto say = [&](Event::Body body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0});
  for (int64_t step = 10; step <= 40; step += 10) {
    const double value = step == 20 ? 0.1 : step == 30 ? 0.9 : 0.5;
    say(event::Measured{step,
                        false,
                        {{"loss.policy", "actor/pg_loss", value},
                         {"reward.mean", "critic/score/mean", value},
                         {"kl.ref", "kl", value},
                         {"loss.entropy", "entropy_loss", value},
                         {"grad_norm", "actor/grad_norm", value},
                         {"reward.component.length_penalty", "rewards/length_penalty", value},
                         {"reward.component.format", "rewards/format", value},
                         {"", "my_figure", value},
                         {"", "probe/nll", value}}});
    say(event::Measured{step, true, {{"", "val/perplexity", value}, {"", "val-core/gsm8k/acc/mean@1", value}}});
  }
  const auto left = [&state](const char* best) {
    const RetentionFacts facts = retention_facts(state, best, false);
    auto all = steps_10_to(40);
    for (RetainedCheckpoint& one : all) one.score = facts.score_at(one.step);
    Steps out = {10, 20, 30, 40};
    for (const int64_t step : gone(all, {1, 0, best, facts.known, facts.doubt})) out.erase(step);
    return out;
  };
  for (const char* low : {"loss.policy", "kl.ref", "probe/nll", "val/perplexity", "min:reward.mean", "min:my_figure"}) {
    CAPTURE(std::string(low));
    CHECK(left(low) == Steps{20, 40});
  }
  for (const char* high :
       {"reward.mean", "reward.component.format", "val-core/gsm8k/acc/mean@1", "max:loss.policy", "max:my_figure"}) {
    CAPTURE(std::string(high));
    CHECK(left(high) == Steps{30, 40});
  }
  for (const char* unsaid :
       {"my_figure", "loss.entropy", "grad_norm", "reward.component.length_penalty", "min:nothing"}) {
    CAPTURE(std::string(unsaid));
    CHECK(left(unsaid) == Steps{10, 20, 30, 40});
  }
  const RetentionFacts facts = retention_facts(state, "my_figure", false);
  const auto verdicts = decide_retention(steps_10_to(40), {1, 0, "my_figure", facts.known, facts.doubt}, false);
  CHECK(verdicts[1].why ==
        "no value of my_figure can be used: nothing says which way is better: \"max:my_figure\" or \"min:my_figure\" "
        "does");
}

TEST_CASE("a save whose own figure is NaN is not the best by the figure of the step before") {
  State state;
  uint64_t line = 0;
  const auto say = [&](Event::Body body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0});
  for (int64_t step = 1; step <= 12; ++step) {
    const double value = step % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : step == 7 ? 0.9 : 0.1;
    say(event::Measured{step, false, {{"reward.mean", "r", value}}});
  }
  const RetentionFacts facts = retention_facts(state, "reward.mean", false);
  CHECK_FALSE(facts.score_at(8).has_value());
  CHECK(facts.score_at(7) == 0.9);
  CHECK(facts.score_at(9) == 0.1);
}

TEST_CASE("figures whose steps are not those of the run's saves say of none that it is the best") {
  for (const int64_t stride : {1, 3}) {  // the run logs each third step; counted by its records they are 1, 2, 3, …
    State state;
    uint64_t line = 0;
    const auto say = [&](Event::Body body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
    say(event::SourceOpened{0, "train.log", "text", 0});
    for (int64_t i = 1; i <= 10; ++i) {
      say(event::Measured{i * stride, false, {{"reward.mean", "r", i == 6 ? 0.9 : 0.1}}});
      say(event::CheckpointSaved{3 * i, cat("out/checkpoint-", 3 * i), true});
    }
    const RetentionFacts facts = retention_facts(state, "reward.mean", false);
    CHECK(facts.score_at(18).has_value() == (stride == 3));
    if (stride == 3) CHECK(facts.score_at(18) == 0.9);
    const auto verdicts = decide_retention(steps_10_to(40), {1, 0, "reward.mean", facts.known, facts.doubt}, false);
    if (stride == 1)
      CHECK(verdicts[1].why.starts_with("no value of reward.mean can be used: the steps of its records"));
  }
}

TEST_CASE("what is not whole, not this run's own or in use stays, and does not count") {
  auto all = steps_10_to(60);
  all[5].whole = false;  // being written
  CHECK(gone(all, {1, 0, ""}) == Steps{10, 20, 30, 40});
  all[0].own = false;
  all[1].in_use = true;
  CHECK(gone(all, {1, 0, ""}) == Steps{30, 40});
  for (RetainedCheckpoint& one : all) one.whole = one.step == 10;
  CHECK(gone(all, {1, 0, ""}).empty());
}

TEST_CASE("a checkpoint whose other half is not whole is none to resume from, and does not count") {
  auto all = steps_10_to(60);
  all[4].paired = all[5].paired = false;
  CHECK(gone(all, {2, 0, ""}) == Steps{10, 20});
  for (RetainedCheckpoint& one : all) one.paired = false;
  CHECK(gone(all, {2, 0, ""}).empty());
}

TEST_CASE("with a store nothing newer than the newest shipped one goes, and what only the store has counts") {
  auto all = steps_10_to(60);
  CHECK(gone(all, {2, 0, ""}, true).empty());
  all[2].shipped = true;
  CHECK(gone(all, {2, 0, ""}, true) == Steps{10, 20, 30});
  RetainedCheckpoint far;
  far.step = 70;
  far.local = false;
  far.shipped = true;
  all.push_back(far);
  CHECK(gone(all, {2, 0, ""}, true) == Steps{10, 20, 30, 40, 50});
  CHECK(gone(all, {1, 0, ""}, true) == Steps{10, 20, 30, 40, 50});  // the newest one here stays whatever is there
}

/// Rules, and what speaks against those from `onset` on.
std::set<int64_t> gone_since(int64_t onset, const RetentionRules& rules, bool has_store = false) {
  auto all = steps_10_to(100);
  for (RetainedCheckpoint& one : all) {
    if (one.step >= onset) one.spoiled = "it was saved since zero-reward began";
    one.score = static_cast<double>(one.step);
  }
  return gone(std::move(all), rules, has_store);
}

TEST_CASE("what was saved since the onset of a trouble counts as nothing: the last ones from before it stay, too") {
  CHECK(gone_since(55, {2, 0, ""}) == Steps{10, 20, 30, 60, 70, 80});
  CHECK(gone_since(55, {1, 0, ""}) == Steps{10, 20, 30, 40, 60, 70, 80, 90});
  CHECK(gone_since(15, {3, 0, ""}) == Steps{20, 30, 40, 50, 60, 70});  // there is one from before it
  CHECK(gone_since(5, {2, 0, ""}) == Steps{10, 20, 30, 40, 50, 60, 70, 80});
  // The best of them may be best by what is wrong.
  CHECK(gone_since(55, {1, 0, "reward.mean"}).count(50) == 0);
  auto all = steps_10_to(60);
  for (RetainedCheckpoint& one : all) one.score = one.step == 20 ? 0.9 : one.step == 60 ? 2.0 : 0.1;
  all[5].spoiled = "it was saved since zero-reward began";
  CHECK(gone(all, {1, 0, "reward.mean"}) == Steps{10, 30, 40});
  // Nor is it what the store has in place of those here.
  for (RetainedCheckpoint& one : all) one.shipped = one.step == 60;
  CHECK(gone(all, {1, 0, ""}, true).empty());
  const auto verdicts = decide_retention(all, {1, 0, ""}, false);
  CHECK(verdicts[4].why == "it is the newest one here that nothing speaks against");
  CHECK(verdicts[5].why ==
        "it is the newest whole one here, but counts for none: it was saved since zero-reward began");
}

TEST_CASE("what a resume would begin from stays whatever the rules say, and so does the newest that was read in full") {
  auto all = steps_10_to(60);
  all[1].advised = "a resume would begin from it";
  all[2].read = true;
  CHECK(gone(all, {1, 0, ""}) == Steps{10, 40, 50});
  all[4].read = true;
  CHECK(gone(all, {1, 0, ""}) == Steps{10, 30, 40});
  all[4].spoiled = "reading all its bytes found that w is NaN";
  CHECK(gone(all, {1, 0, ""}) == Steps{10, 40, 50});
}

TEST_CASE("what the journal says against a run's checkpoints: an onset, an attempt that went back, what was read") {
  State state;
  state.attempts.resize(2);
  state.attempts[0].last_step = 100;
  state.attempts[1].resumed_at = 50;
  state.attempts[1].first_step = 51;
  state.attempts[1].last_step = 75;
  for (int64_t step = 10; step <= 100; step += 10)
    state.checkpoints.push_back({{step, {}, {}, 0}, {step, cat("out/step_", step), true}});
  for (int64_t step = 60; step <= 70; step += 10)
    state.checkpoints.push_back({{step, {}, {}, 1}, {step, cat("out/step_", step), true}});
  RetentionFacts facts = retention_facts(state, "", false);
  CHECK(facts.spoiled(80) == "the run went on from before it");
  CHECK(facts.spoiled(60).empty());
  CHECK(facts.advised == kNoStep);  // nobody has to resume
  Incident incident;
  incident.kind = "zero-reward";
  incident.severity = Severity::kCritical;
  incident.open = true;
  incident.onset.step = 65;
  incident.latest.attempt = 1;
  state.incidents = {incident};
  facts = retention_facts(state, "", false);
  CHECK(facts.spoiled(70) == "it was saved since zero-reward began at step 65");
  CHECK(facts.spoiled(60).empty());
  CHECK(facts.advised == 60);
  event::CheckpointRead read;
  read.step = 60;
  read.path = "out/step_60";
  read.how = event::CheckpointRead::How::kSuspect;
  read.what = "w: all numbers are NaN";
  state.checkpoint_reads.push_back({{}, read});
  facts = retention_facts(state, "", false);
  CHECK(facts.spoiled(60) == "reading all its bytes found that w: all numbers are NaN");
  CHECK(facts.advised == 50);
  state.checkpoint_reads.back().second.how = event::CheckpointRead::How::kSane;
  CHECK(retention_facts(state, "", false).sane == Steps{60});
  state.incidents[0].kind = "entropy-collapse";
  facts = retention_facts(state, "", false);
  CHECK(facts.onset == kNoStep);
  CHECK(facts.turned == 65);
  auto all = steps_10_to(70);
  keep_before_turn(facts, all);
  CHECK(gone(all, {1, 0, ""}) == Steps{10, 20, 30, 40, 50});
}

}  // namespace
}  // namespace mw
