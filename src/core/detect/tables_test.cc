// The names and words by which detectors recognise signals, each in a run of its own that only it makes notable.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/detect/detector.h"
#include "core/judge_memory.h"
#include "core/state.h"

namespace mw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Line {
  std::string_view signal, raw;
  std::vector<double> values;  ///< of step 1, 2, …
};

/// `count` values around `level`, none far from it.
std::vector<double> around(double level, int count) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(level * (1 + 0.004 * (i % 5)));
  return values;
}

std::vector<double> operator+(std::vector<double> first, const std::vector<double>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

State run_of(const std::vector<Line>& lines, bool eval = false) {
  State state;
  size_t steps = 0;
  for (const Line& line : lines) steps = std::max(steps, line.values.size());
  for (size_t i = 0; i < steps; ++i) {
    event::Measured measured{static_cast<int64_t>(i + 1), eval, {}};
    for (const Line& line : lines) {
      if (i >= line.values.size()) continue;
      measured.readings.push_back({std::string(line.signal), std::string(line.raw), line.values[i]});
    }
    fold(state, {{}, {0, i + 1}, std::move(measured)});
  }
  return state;
}

std::vector<Finding> found(std::string_view detector, State state, const Knowledge& known = {}) {
  fold(state, {{}, {0, 100'000}, event::Closed{}});
  std::vector<Finding> findings;
  JudgeMemory memory;
  for (const Detector* one : all_detectors()) {
    if (one->name == detector) one->judge(state, known, memory, findings);
  }
  return findings;
}

bool finds(std::string_view detector, const State& state) { return !found(detector, state).empty(); }

}  // namespace

TEST_CASE("a bottom that a declining reward touches for a while is no collapse beside the decline") {
  std::vector<double> reward;  // in eighths, as of one group of eight: high, almost nothing for ten steps, a middle
  uint64_t seed = 4;
  for (int i = 0; i < 200; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const double noise = 0.5 * (static_cast<double>((seed >> 16) % 9) - 4);
    const double level = i < 90 ? 4.6 : i < 100 ? 1.2 : 3;
    reward.push_back(std::clamp(std::nearbyint(level + noise), 0.0, 8.0) / 8);
  }
  const auto findings = found("reward-collapse", run_of({{"reward.mean", "reward", reward}}));
  size_t declines = 0;
  for (const Finding& finding : findings) {
    if (finding.summary.find("declined") == std::string::npos) continue;
    ++declines;
    for (const Finding& other : findings) {
      if (&other != &finding) CHECK(other.onset.step < finding.onset.step);
    }
  }
  CHECK(declines == 1);
}

TEST_CASE("what is not a number any more, whichever signal it is") {
  for (const char* signal : {"loss.total", "loss.policy", "loss.value", "loss.kl", "grad_norm", "grad_norm.value",
                             "kl.ref", "kl.step", "entropy", "reward.mean", "ratio.mean"}) {
    CAPTURE(std::string(signal));
    CHECK(finds("non-finite", run_of({{signal, signal, around(0.5, 20) + std::vector<double>(10, kNan)}})));
  }
  CHECK_FALSE(finds("non-finite", run_of({{"time.step", "t", around(0.5, 20) + std::vector<double>(10, kNan)}})));
}

TEST_CASE("what is optimised is not a number from the first step on; another signal may just not be computed") {
  const auto severity = [](const char* signal) {
    const auto findings = found("non-finite", run_of({{signal, signal, std::vector<double>(20, kNan)}}));
    return findings.empty() ? Severity::kInfo : findings.front().severity;
  };
  for (const char* signal : {"loss.total", "loss.policy", "grad_norm"}) {
    CAPTURE(std::string(signal));
    CHECK(severity(signal) == Severity::kCritical);
  }
  CHECK(severity("entropy") == Severity::kInfo);
}

TEST_CASE("engine and trainer part, in whichever figure a trainer shows it") {
  for (const auto& [signal, level, high] : {std::tuple{"mismatch.logp_diff", 0.01, 2.0},
                                            {"mismatch.kl", 0.001, 2.0},
                                            {"mismatch.prob_diff", 0.01, 0.6},
                                            {"mismatch.ratio", 1.0, 9.0}}) {
    const std::string name = signal;
    CAPTURE(name);
    CHECK(finds("policy-mismatch", run_of({{signal, signal, around(level, 40) + around(high, 30)}})));
    CHECK_FALSE(finds("policy-mismatch", run_of({{signal, signal, around(level, 70)}})));
  }
}

TEST_CASE("a bound of staleness by the name that each trainer has for it") {
  for (const char* key :
       {"max_staleness", "max_staleness_steps", "max_head_offpolicyness", "max_off_policy_steps", "staleness_bound"}) {
    CAPTURE(std::string(key));
    State state = run_of({{"staleness", "s", around(6, 30)}});
    CHECK_FALSE(finds("staleness", state));  // of a run that names none
    state.config[key] = "4";
    CHECK(finds("staleness", state));
    state.config[key] = "8";
    CHECK_FALSE(finds("staleness", state));
  }
}

TEST_CASE("the phase in which a slow step spends its time") {
  for (const char* phase : {"time.rollout", "time.reward", "time.tools", "time.logprob", "time.train", "time.sync",
                            "time.save", "time.wait"}) {
    CAPTURE(std::string(phase));
    const auto findings = found("throughput-drop", run_of({{"time.step", "t", around(20, 60) + around(120, 40)},
                                                           {phase, "p", around(5, 60) + around(105, 40)}}));
    REQUIRE_FALSE(findings.empty());
    CHECK(findings.front().summary.find(std::string("most of it in ") + phase) != std::string::npos);
  }
}

TEST_CASE("answers that are cut off, by either figure") {
  for (const char* signal : {"response.truncated", "response.no_eos"}) {
    CAPTURE(std::string(signal));
    CHECK(finds("truncation", run_of({{signal, signal, around(0.05, 40) + std::vector<double>(60, 1)}})));
  }
}

TEST_CASE("a mean length that lingers at a multiple of 32 and goes on is at no limit") {
  const auto cut_off = [](double last, double slope = 0.5, double end = 700) {
    std::vector<double> length;
    for (int step = 0; 600 + slope * step < end && step < 500; ++step)
      length.push_back(std::min(last, 600 + slope * step));
    return finds("truncation", run_of({{"response.length", "tokens", length}}));
  };
  CHECK(cut_off(640));
  CHECK_FALSE(cut_off(649));
  CHECK_FALSE(cut_off(700, 0.1, 640.1));
}

TEST_CASE("no differences within any group, by either figure") {
  for (const char* signal : {"advantage.std", "reward.std"}) {
    CAPTURE(std::string(signal));
    CHECK(finds("zero-advantage", run_of({{signal, signal, around(0.3, 30) + std::vector<double>(60, 0)},
                                          {"reward.mean", "r", around(0.4, 90)}})));
  }
}

TEST_CASE("a held-out result that stands while the reward rises is worth a word, unless another one rises") {
  const auto run_with = [](const std::vector<Line>& evaluations) {
    std::vector<double> rising;
    rising.reserve(60);
    for (int i = 0; i < 60; ++i) rising.push_back(0.2 + 0.01 * i + 0.004 * (i % 5));
    State state = run_of({{"reward.mean", "reward", rising}});
    for (size_t at = 0; at < 6; ++at) {
      event::Measured measured{static_cast<int64_t>(10 * at + 5), true, {}};
      for (const Line& line : evaluations)
        measured.readings.push_back({std::string(line.signal), std::string(line.raw), line.values[at]});
      fold(state, {{}, {0, 1000 + at}, std::move(measured)});
    }
    return state;
  };
  const Line flat{"eval.a", "set_a/acc", {0.4, 0.41, 0.4, 0.4, 0.41, 0.4}};
  CHECK(finds("eval-regression", run_with({flat})));
  CHECK_FALSE(finds("eval-regression", run_with({flat, {"eval.b", "set_b/acc", {0.2, 0.25, 0.3, 0.36, 0.4, 0.45}}})));
  CHECK_FALSE(finds("eval-regression", run_with({{"eval.c", "set_a/is_completed/mean", flat.values}})));
}

TEST_CASE("what was learned by heart shows in three evaluations of the loss") {
  const auto overfits = [](const std::vector<double>& training, const std::vector<double>& held_out, const char* name) {
    State state = run_of({{"loss.total", "loss", training}});
    for (size_t i = 0; i < held_out.size(); ++i) {
      event::Measured measured{static_cast<int64_t>(i * 10 + 9), true, {}};
      measured.readings.push_back({"", name, held_out[i]});
      fold(state, {{}, {0, 1000 + i}, std::move(measured)});
    }
    return finds("eval-regression", state);
  };
  const auto falls = around(0.3, 10) + around(0.02, 10) + around(0.004, 10), stays = around(0.3, 30);
  CHECK(overfits(falls, {0.17, 0.27, 0.28}, "val_loss"));
  CHECK_FALSE(overfits(falls, {0.17, 0.27}, "val_loss"));
  CHECK_FALSE(overfits(falls, {0.17, 0.27, 0.2}, "val_loss"));  // it comes back
  // Little, but in each of six evaluations.
  CHECK(overfits({1.2, 1.1, 1.0, 0.9, 0.8, 0.7}, {0.743, 0.751, 0.764, 0.791, 0.793, 0.8}, "eval_loss"));
  CHECK_FALSE(overfits({1.2, 1.1, 1.0, 0.9, 0.8, 0.7}, {0.743, 0.751, 0.764, 0.76, 0.793, 0.8}, "eval_loss"));
  CHECK_FALSE(overfits({1.2, 1.1, 1.0, 0.9, 0.8, 0.7}, {0.743, 0.744, 0.746, 0.75, 0.755, 0.76}, "eval_loss"));
  CHECK_FALSE(overfits(stays, {0.17, 0.27, 0.28}, "val_loss"));
  CHECK_FALSE(overfits(falls, {0.17, 0.27, 0.28}, "val_reward"));
}

TEST_CASE("pairs whose log-probabilities are no number are said, though the loss is one") {
  std::vector<double> chosen = around(-200, 40);
  const auto run = [&](const char* name) {
    return found("non-finite", run_of({{"loss.total", "loss", around(0.5, 40)}, {"", name, chosen}}));
  };
  CHECK(run("logps/chosen").empty());
  chosen[12] = chosen[30] = kNan;
  const auto findings = run("logps/chosen");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(contains(findings[0].summary, "in 2 of 40 records, first at step"));
  CHECK(run("rewards/format_reward").empty());  // a reward that a batch has no samples for
}

TEST_CASE("a held-out result is better when it is higher or lower, as its name says") {
  const auto falls = around(60, 12) + around(20, 8), rises = around(2, 12) + around(6, 8);
  const auto share = around(0.6, 12) + around(0.1, 8);  // a share of solved tasks, by whatever name
  const auto regresses = [](const std::string& name, const std::vector<double>& values) {
    return finds("eval-regression", run_of({{"eval.x", name, values}}, true));
  };
  for (const char* higher :
       {"acc", "passed", "score", "reward", "mean", "success", "correctness", "exact_match", "solved", "win_rate"}) {
    CAPTURE(std::string(higher));
    CHECK(regresses(higher, falls));
    CHECK_FALSE(regresses(higher, rises));
  }
  for (const char* lower : {"loss", "perplexity", "ppl", "error"}) {
    CAPTURE(std::string(lower));
    CHECK(regresses(lower, rises));
    CHECK_FALSE(regresses(lower, falls));
  }
  CHECK(regresses("gsm8k", share));
  CHECK_FALSE(regresses("gsm8k", falls));
  for (const char* neither : {"time_s",       "samples_per_second",
                              "len",          "score_std",
                              "score_min",    "score_max",
                              "tokens",       "count",
                              "num_tasks",    "epoch",
                              "entropy",      "kl",
                              "truncated",    "clipped",
                              "turns",        "failed",
                              "aborted",      "invalid",
                              "no_answer",    "frac_all_bad",
                              "wrong_format", "incorrect",
                              "frac_mixed",   "penalty",
                              "refusals",     "violations",
                              "hallucinated", "context_exceeded",
                              "not_null",     "empty_answers",
                              "repeated",     "toxic"}) {
    CAPTURE(std::string(neither));
    CHECK_FALSE(regresses(neither, share));
  }
}

TEST_CASE("the least of a batch is no measure of success that never comes") {
  const std::vector<double> moves = around(0.4, 30) + around(0.6, 30), nothing(60, 0.0);
  const auto dead = [&](const std::string& raw) {
    const std::string signal = "reward.component." + raw;
    return finds("dead-component", run_of({{"reward.mean", "r", moves}, {signal, raw, nothing}}));
  };
  CHECK(dead("correct/mean"));
  for (const char* spread : {"correct/min", "correct/std", "solver/min", "correct/max"}) {
    CAPTURE(std::string(spread));
    CHECK_FALSE(dead(spread));
  }
}

TEST_CASE("what measures the truth beside a reward") {
  const auto hollow = [](std::string_view signal, std::string_view raw) {
    return finds("reward-hacking", run_of({{"reward.mean", "r", around(0.9, 60)}, {signal, raw, around(0.05, 60)}}));
  };
  CHECK(hollow("reward.pass_rate", "p"));
  for (const char* truth : {"correctness", "accuracy", "solved", "passed", "true_score", "gold", "grounded",
                            "exact_match", "outcome", "success", "unit_tests"}) {
    CAPTURE(std::string(truth));
    CHECK(hollow("reward.component.x", truth));
  }
  for (const char* other : {"correct_minus_wrong", "correct_gap", "correct_std", "correct_min", "correct_max",
                            "correct_count", "politeness"}) {
    CAPTURE(std::string(other));
    CHECK_FALSE(hollow("reward.component.x", other));
  }
}

TEST_CASE("a success rate that wanders is no truth that a reward leaves behind") {
  const auto hacks = [](const std::vector<double>& reward, const std::vector<double>& success) {
    return finds("reward-hacking", run_of({{"reward.mean", "r", reward}, {"reward.pass_rate", "success", success}}));
  };
  const std::vector<double> lately = around(12, 20) + around(2, 20) + around(12, 20) + around(2, 10) + around(26, 10);
  const std::vector<double> swings = around(0.12, 20) + around(0.02, 20) + around(0.12, 20) + around(0.02, 20);
  CHECK_FALSE(hacks(lately, swings));
  const std::vector<double> falls = around(12, 10) + around(7, 10) + around(5, 10) + around(10, 10);
  CHECK_FALSE(hacks(falls, around(0.12, 20) + around(0.08, 20)));
  CHECK(hacks(around(7, 20) + around(14, 20), around(0.12, 20) + around(0.06, 20)));
}

TEST_CASE("a gradient among records whose rewards were all equal is no spike") {
  const auto spikes = [](double before, double lone, bool knows_spread) {
    std::vector<double> norms, spread;
    for (int step = 0; step < 60; ++step) {
      const bool early = before > 0 && step < 12;
      const bool teaches = early || step == 40;
      norms.push_back(early ? before : step == 40 ? lone : 0.25);
      spread.push_back(teaches ? 1 : 0);
    }
    std::vector<Line> logged = {{"grad_norm", "g", norms}};
    if (knows_spread) logged.push_back({"advantage.std", "a", spread});
    return finds("gradient-spike", run_of(logged));
  };
  CHECK(spikes(0, 440, false));
  CHECK_FALSE(spikes(0, 440, true));
  CHECK_FALSE(spikes(90, 440, true));
  CHECK(spikes(2, 440, true));
  CHECK(spikes(0, 4e7, true));
}

TEST_CASE("pass@k falls when answers become alike, too, and is less severe than pass@1") {
  const auto severity = [](std::string_view raw) {
    const auto findings =
        found("reward-hacking", run_of({{"reward.mean", "r", around(0.3, 60) + around(0.8, 60)},
                                        {"reward.pass_rate", raw, around(0.7, 60) + around(0.2, 60)}}));
    return findings.empty() ? Severity::kInfo : findings.front().severity;
  };
  CHECK(severity("pass@1") == Severity::kWarning);
  CHECK(severity("val/pass_at_1") == Severity::kWarning);
  CHECK(severity("solved") == Severity::kWarning);
  CHECK(severity("pass@8") == Severity::kInfo);
  CHECK(severity("pass@16") == Severity::kInfo);
  CHECK(severity("val/pass_at_8") == Severity::kInfo);
}

}  // namespace mw
