// Runs by the hundred: seeded healthy ones, on which the detectors must be silent, and the same with one thing gone
// wrong, which they must report. The figures are bounds on rates, so that a rule that only knows a few runs fails here.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/testing/sanitized.h"
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/judge_memory.h"
#include "core/state.h"

namespace {

using Column = std::vector<double>;
using Table = std::map<std::string, Column>;

struct Run {
  size_t records = 0;
  int64_t by = 1;  ///< steps between records
  Table table;
};

double normal(mw::Prng& prng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += prng.unit();
  return sum;
}

double within(mw::Prng& prng, double least, double most) { return least + (most - least) * prng.unit(); }

/// Small batches give coarse, skewed rewards: the mean of `samples` draws that succeed with probability `rate`.
double drawn(mw::Prng& prng, double rate, size_t samples) {
  size_t hits = 0;
  for (size_t i = 0; i < samples; ++i) hits += prng.chance(rate) ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(samples);
}

Run healthy(mw::Prng& prng) {
  Run run;
  run.records = 20 + prng.below(180);
  run.by = prng.chance(0.7) ? 1 : 5;
  const double from = within(prng, 0.05, 0.5), to = within(prng, from + 0.15, 0.95);
  const double when = within(prng, 0.1, 0.6), samples = within(prng, 16, 256);
  const double entropy = within(prng, 0.2, 1.5), spent = within(prng, 0.15, 0.9);
  const double length = within(prng, 150, 900), growth = within(prng, 0.6, 1.6);
  const double seconds = within(prng, 20, 400), gradient = within(prng, 0.05, 2), spread = within(prng, 0.1, 0.6);
  const double cut = within(prng, 0, 0.15), gap = within(prng, 0.004, 0.015);
  for (size_t i = 0; i < run.records; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(run.records);
    const double learned = 1 / (1 + std::exp(-8 * (share - when)));
    run.table["reward.mean"].push_back(drawn(prng, from + (to - from) * learned, static_cast<size_t>(samples)));
    run.table["entropy"].push_back(entropy * (1 - (1 - spent) * learned) * (1 + 0.05 * normal(prng)));
    run.table["kl.ref"].push_back(0.1 * learned * (1 + 0.2 * std::abs(normal(prng))));
    run.table["grad_norm"].push_back(gradient * std::exp(spread * normal(prng)) *
                                     (i < 5 ? 10.0 / static_cast<double>(i + 1) : 1));
    run.table["loss.policy"].push_back(0.02 * normal(prng));
    run.table["response.length"].push_back(length * (1 + (growth - 1) * learned) * (1 + 0.08 * normal(prng)));
    run.table["response.truncated"].push_back(drawn(prng, cut * (1 - 0.5 * share), static_cast<size_t>(samples)));
    run.table["mismatch.logp_diff"].push_back(gap * (1 + 0.3 * std::abs(normal(prng))));
    const double eval = i % 20 == 19 ? 2.5 : 1;
    run.table["time.step"].push_back(seconds * (i == 0 ? 3 : eval) * (1 + (growth - 1) * learned) *
                                     (1 + 0.07 * normal(prng)));
    run.table["clip.frac"].push_back(0.01 * std::abs(normal(prng)));
  }
  return run;
}

std::vector<mw::Finding> judged(const Run& run) {
  mw::State state;
  mw::Event event;
  event.body = mw::event::SourceOpened{0, "metrics.jsonl", "jsonl", 0};
  mw::fold(state, event);
  for (size_t i = 0; i < run.records; ++i) {
    mw::event::Measured measured;
    measured.step = static_cast<int64_t>(i + 1) * run.by;
    for (const auto& [name, column] : run.table) measured.readings.push_back({name, name, column[i]});
    event.where = {0, i + 1};
    event.body = measured;
    mw::fold(state, event);
  }
  event.body = mw::event::Ended{};
  mw::fold(state, event);
  event.body = mw::event::Closed{};
  mw::fold(state, event);
  std::vector<mw::Finding> findings;
  mw::JudgeMemory none;
  for (const mw::Detector* detector : mw::all_detectors()) detector->judge(state, {}, none, findings);
  std::erase_if(findings, [](const mw::Finding& finding) { return finding.severity == mw::Severity::kInfo; });
  return findings;
}

// The sanitizers need to see the code, the figures all seeds.
constexpr uint64_t kShare = mw::testing::kSanitized ? 2 : 1;
constexpr uint64_t kHealthy = 1000 / kShare, kSpoiled = 200 / kShare;

struct Tally {
  size_t reported = 0, runs = 0, other = 0;
  std::map<std::string, size_t> kinds;  ///< of the others
};

/// Spoils healthy runs from record `at` on, and counts how many are reported with an onset within three records.
Tally spoiled(const std::string& kind, const std::vector<std::string>& also,
              const std::function<void(mw::Prng&, Run&, size_t at)>& spoil) {
  Tally tally;
  for (uint64_t seed = 1; seed <= kSpoiled; ++seed) {
    mw::Prng prng(seed * 7919);
    Run run = healthy(prng);
    if (run.records < 50) run = healthy(prng);
    if (run.records < 50) continue;
    const size_t at = 25 + prng.below(run.records - 40);
    spoil(prng, run, at);
    bool reported = false;
    for (const mw::Finding& finding : judged(run)) {
      const double record = static_cast<double>(finding.onset.step) / static_cast<double>(run.by) - 1;
      if (finding.kind == kind) {
        reported |= std::abs(record - static_cast<double>(at)) <= 3;
      } else if (std::find(also.begin(), also.end(), finding.kind) == also.end()) {
        ++tally.other;
        ++tally.kinds[finding.kind];
      }
    }
    ++tally.runs;
    tally.reported += reported ? 1 : 0;
  }
  MESSAGE(kind << ": " << tally.reported << " of " << tally.runs << ", others " << tally.other);
  for (const auto& [other, count] : tally.kinds) MESSAGE("  " << other << " " << count);
  return tally;
}

}  // namespace

TEST_CASE("healthy runs are quiet") {
  size_t loud = 0;
  std::map<std::string, size_t> kinds;
  for (uint64_t seed = 1; seed <= kHealthy; ++seed) {
    mw::Prng prng(seed);
    const auto findings = judged(healthy(prng));
    loud += findings.empty() ? 0 : 1;
    for (const mw::Finding& finding : findings) ++kinds[finding.kind];
  }
  for (const auto& [kind, count] : kinds) MESSAGE(kind << " " << count << " of " << kHealthy);
  CHECK(loud <= kHealthy / 50);
}

TEST_CASE("a reward that falls is reported") {
  const Tally tally = spoiled("reward-collapse", {}, [](mw::Prng& prng, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["reward.mean"][i] *= 0.1 + 0.05 * prng.unit();
  });
  CHECK(tally.reported >= tally.runs * 9 / 10);
  CHECK(tally.other <= tally.runs / 20);
}

TEST_CASE("a reward that becomes zero is reported") {
  const Tally tally = spoiled("zero-reward", {}, [](mw::Prng&, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["reward.mean"][i] = 0;
  });
  CHECK(tally.reported >= tally.runs * 19 / 20);
  CHECK(tally.other <= tally.runs / 20);
}

TEST_CASE("entropy that explodes is reported") {
  const Tally tally = spoiled("entropy-explosion", {}, [](mw::Prng& prng, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["entropy"][i] = 4 + 0.3 * normal(prng);
  });
  CHECK(tally.reported >= tally.runs * 9 / 10);
  CHECK(tally.other <= tally.runs / 20);
}

TEST_CASE("truncation is reported") {
  const Tally tally = spoiled("truncation", {}, [](mw::Prng& prng, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["response.truncated"][i] = 0.9 + 0.1 * prng.unit();
  });
  CHECK(tally.reported >= tally.runs * 19 / 20);
  CHECK(tally.other <= tally.runs / 20);
}

TEST_CASE("engine and trainer that diverge are reported") {
  const Tally tally = spoiled("policy-mismatch", {}, [](mw::Prng& prng, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["mismatch.logp_diff"][i] = 0.3 + 0.05 * prng.unit();
  });
  CHECK(tally.reported >= tally.runs * 19 / 20);
  CHECK(tally.other <= tally.runs / 20);
}

TEST_CASE("steps that take three times as long are reported") {
  const Tally tally = spoiled("throughput-drop", {}, [](mw::Prng&, Run& run, size_t at) {
    for (size_t i = at; i < run.records; ++i) run.table["time.step"][i] *= 3;
  });
  CHECK(tally.reported >= tally.runs * 8 / 10);
  CHECK(tally.other <= tally.runs / 20);
}
