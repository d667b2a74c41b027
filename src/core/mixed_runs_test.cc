#include "core/mixed_runs.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

/// `steps` steps of a run whose noise comes from `seed`, as a source logs them that rounds to `digits`.
void measure_steps(State& state, uint32_t source, int seed, int steps, double digits = 1e6) {
  fold(state, {{}, {source, 0}, event::SourceOpened{source, cat("log-", source), "jsonl", 0, 0, 0}});
  for (int step = 1; step <= steps; ++step) {
    const auto value = [&](double base, double salt) {
      return std::round((base + 0.3 * base * std::sin(salt + seed * 1.7 + step * 2.3)) * digits) / digits;
    };
    fold(state, {{},
                 {source, static_cast<uint64_t>(step)},
                 event::Measured{step,
                                 false,
                                 {{"reward.mean", "reward", value(0.5, 1)},
                                  {"entropy", "entropy", value(0.8, 2)},
                                  {"grad_norm", "grad", value(0.2, 3)},
                                  {"lr", "lr", 1e-6}}}});
  }
}

TEST_CASE("two runs given as one are distinguished") {
  State state;
  measure_steps(state, 0, 1, 40);
  measure_steps(state, 1, 2, 40);
  const auto sentences = mixed_runs(state);
  REQUIRE(sentences.size() == 1);
  CHECK(contains(sentences[0], "log-0 and log-1"));
  CHECK(contains(sentences[0], "reward.mean"));
}

TEST_CASE("each signal in which two runs differ from the first step on counts") {
  const std::vector<const char*> differing{"reward.mean", "reward.std", "loss.total",     "loss.policy",    "entropy",
                                           "grad_norm",   "kl.ref",     "advantage.mean", "response.length"};
  const auto mixed_by = [](const std::vector<const char*>& signals) {
    State state;
    for (uint32_t source = 0; source < 2; ++source) {
      fold(state, {{}, {source, 0}, event::SourceOpened{source, cat("log-", source), "jsonl", 0, 0, 0}});
      for (int step = 1; step <= 20; ++step) {
        event::Measured measured{step, false, {}};
        for (const char* signal : signals) measured.readings.push_back({signal, signal, 1.0 + step + 100.0 * source});
        fold(state, {{}, {source, static_cast<uint64_t>(step)}, std::move(measured)});
      }
    }
    return !mixed_runs(state).empty();
  };
  for (size_t i = 0; i < differing.size(); ++i) {
    CAPTURE(std::string(differing[i]));
    CHECK(mixed_by({differing[i], differing[(i + 1) % differing.size()], differing[(i + 2) % differing.size()]}));
    CHECK_FALSE(mixed_by({differing[i], differing[(i + 1) % differing.size()], "lr"}));
  }
}

TEST_CASE("two sinks of one run are not, though one rounds") {
  State state;
  measure_steps(state, 0, 1, 40);
  measure_steps(state, 1, 1, 40, 100);
  CHECK(mixed_runs(state).empty());
}

TEST_CASE("a few shared steps mean nothing") {
  State state;
  measure_steps(state, 0, 1, 8);
  measure_steps(state, 1, 2, 40);
  CHECK(mixed_runs(state).empty());
}

}  // namespace
}  // namespace mw
