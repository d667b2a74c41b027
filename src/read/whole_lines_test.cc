// What whole logs come to whose lines are wrapped, dated or written in another way than most.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

bool has(const State& state, std::string_view kind) {
  return std::any_of(state.incidents.begin(), state.incidents.end(),
                     [kind](const Incident& incident) { return incident.kind == kind; });
}

/// A value that is never quite the last one.
std::string jitter(int i, int base) { return cat("0.", base + i * 37 % 61); }

/// `print(metrics)` of 300 steps, or the same as JSON. `names` end with the step's, "" for none.
std::string records(const std::vector<std::string_view>& names, std::string_view prefix, char quote, bool fails) {
  std::string log;
  for (int i = 1; i <= 300; ++i) {
    log += cat(prefix, "{");
    for (size_t n = 0; n < names.size(); ++n) {
      const bool step = n + 1 == names.size(), reward = n == 0;
      if (names[n].empty()) continue;
      const std::string value = step                         ? std::to_string(i)
                                : reward && fails && i > 150 ? "0.0"
                                                             : jitter(i, reward ? 300 : 500);
      log += cat(n == 0 ? "" : ", ", std::string(1, quote), names[n], std::string(1, quote), ": ", value);
    }
    log += "}\n";
  }
  return log;
}

TEST_CASE("a dict that is printed on a line is the same record as its row in a structured file") {
  const std::vector<std::vector<std::string_view>> trainers = {
      {"critic/score/mean", "actor/entropy", "actor/grad_norm", "training/global_step"},
      {"reward/avg_raw_reward", "policy/final_loss", "policy/policy_kl", "trainer/global_step"},
      {"rollout/raw_reward", "train/pg_loss", "rollout/response_len/mean", "train/step"},
      {"rollout/raw_reward", "rollout/response_len/mean", "rollout/truncated_ratio", "rollout/step"},
      {"train/reward", "train/loss", "train/kl", "train/global_step"},
      {"reward", "loss", "kl", "_step"}};
  for (const auto& names : trainers) {
    CAPTURE(names.back());
    const State rows = state_of(records(names, "", '"', true), "metrics.jsonl");
    CHECK(has(rows, "zero-reward"));
    for (const std::string_view prefix :
         {"", "2026-11-20 08:00:30,000 INFO train.py:9 - ", "[rank0]: ", "(TaskRunner pid=4711) "}) {
      CAPTURE(prefix);
      const State lines = state_of(records(names, prefix, '\'', true));
      CHECK(lines.steps().first == rows.steps().first);
      CHECK(lines.steps().last == rows.steps().last);
      CHECK(lines.steps().last == 300);
      CHECK(has(lines, "zero-reward"));
      CHECK_FALSE(has(state_of(records(names, prefix, '\'', false)), "zero-reward"));
    }
  }
}

TEST_CASE("so is a dict that says no step and has no loss") {
  for (const std::vector<std::string_view>& names :
       {std::vector<std::string_view>{"reward", "kl", "clip_ratio/region_mean", "completions/clipped_ratio", ""},
        {"critic/score/mean", "actor/entropy", "response_length/mean", "response_length/clip_ratio", ""},
        {"grpo_actor/task_reward/avg", "grpo_actor/entropy/avg", "grpo_actor/clip_ratio", ""}}) {
    CAPTURE(names[0]);
    CHECK(has(state_of(records(names, "", '"', true), "metrics.jsonl"), "zero-reward"));
    CHECK(has(state_of(records(names, "", '\'', true)), "zero-reward"));
    CHECK_FALSE(has(state_of(records(names, "", '\'', false)), "zero-reward"));
  }
}

TEST_CASE("a dict of settings, of an answer, of an episode or of an engine's load is no record of a known trainer") {
  std::string log;
  for (int i = 1; i <= 40; ++i)
    log += cat("step:", i, " - critic/score/mean:", jitter(i, 300), " - actor/entropy:0.5 - actor/grad_norm:0.25\n",
               "{'temperature': 1.0, 'top_p': 0.9, 'max_length': 512}\n", "{'response_length': 412, 'score': 1.0}\n",
               "{'running': 12, 'waiting': 3, 'kv_cache_usage': 0.5}\n", "{'episode': ", i,
               ", 'steps': 57, 'reward': 1.0, 'entropy': 0.5}\n");
  const State state = state_of(log);
  CHECK(state.steps().count == 40);
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->count() == 40);
}

TEST_CASE("records with NaN in a dict are counted, whatever name is first") {
  for (const std::string_view first : {"mean_reward", "kl", "entropy"}) {
    std::string log;
    for (int i = 1; i <= 300; ++i) {
      const std::string norm = i < 150 ? jitter(i, 300) : "nan";
      log += cat("{'", first, "': ", jitter(i, 300), ", 'grad_norm': ", norm,
                 ", 'loss': ", i < 150 ? jitter(i, 100) : "nan", ", 'epoch': ", i / 300.0, "}\n");
    }
    const State state = state_of(log);
    CHECK(state.steps().last == 300);
    CHECK(has(state, "non-finite"));
  }
}

const std::vector<std::string_view> kTrace = {"Traceback (most recent call last):",
                                              "  File \"/srv/rl/train.py\", line 288, in <module>",
                                              "    main(cfg)",
                                              "  File \"/srv/rl/scorer.py\", line 55, in score",
                                              "    raise RubricMissing(k)",
                                              "scorer.RubricMissing: no rubric for task gsm-17"};

/// 80 steps and a traceback, each line as `wrap` writes it.
State crashed(const std::function<std::string(int, std::string_view)>& wrap, std::string_view file = "train.log") {
  std::string log;
  for (int i = 1; i <= 80; ++i)
    log += wrap(i, cat("step:", i, " - critic/score/mean:", jitter(i, 300), " - actor/entropy:0.5"));
  for (const std::string_view line : kTrace) log += wrap(81, line);
  return state_of(log, file);
}

std::string two(int n) { return cat(n < 10 ? "0" : "", n); }

TEST_CASE("behind a clock alone, or a date in another order, a trainer's lines and a traceback are seen") {
  using Wrap = std::function<std::string(int, std::string_view)>;
  const auto minute = [](int i) { return cat(two(8 + i / 60), ":", two(i % 60), ":30"); };
  const std::vector<Wrap> wraps = {[&](int i, auto text) { return cat(minute(i), " ", text, "\n"); },
                                   [&](int i, auto text) { return cat(minute(i), ".123 ", text, "\n"); },
                                   [&](int i, auto text) { return cat(minute(i), ",123 ", text, "\n"); },
                                   [&](int i, auto text) { return cat(minute(i), ": ", text, "\n"); },
                                   [&](int i, auto text) { return cat(minute(i), " AM ", text, "\n"); },
                                   [&](int i, auto text) { return cat("20.11.2026 ", minute(i), " ", text, "\n"); },
                                   [&](int i, auto text) { return cat("11/20/2026 ", minute(i), " AM ", text, "\n"); },
                                   [&](int i, auto text) { return cat("2026-11-20, ", minute(i), " ", text, "\n"); }};
  for (size_t i = 0; i < wraps.size(); ++i) {
    CAPTURE(i);
    const State state = crashed(wraps[i]);
    CHECK(state.steps().last == 80);
    REQUIRE(state.find("reward.mean") != nullptr);
    CHECK(state.find("reward.mean")->count() == 80);
    CHECK(has(state, "crash"));
  }
}

TEST_CASE("a traceback that a collector keeps as JSON, an object to a line, is seen") {
  using Wrap = std::function<std::string(int, std::string_view)>;
  const auto quoted = [](std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '"' ? "\\\"" : std::string(1, c);
    return out;
  };
  const auto at = [](int i) { return cat("2026-11-20T", two(8 + i / 60), ":", two(i % 60), ":30Z"); };
  const std::vector<Wrap> wraps = {
      [&](int i, auto text) {
        return cat("{\"timestamp\": ", 1795160000 + i * 60, "000, \"message\": \"", quoted(text), "\"}\n");
      },
      [&](int i, auto text) {
        return cat("{\"timestamp\": \"", at(i), "\", \"level\": \"INFO\", \"message\": \"", quoted(text), "\"}\n");
      },
      [&](int i, auto text) {
        return cat("{\"date\": ", 1795160000 + i * 60, ".5, \"log\": \"", quoted(text),
                   "\", \"kubernetes\": {\"pod_name\": \"rl-0\"}}\n");
      },
      [&](int i, auto text) {
        return cat("{\"textPayload\": \"", quoted(text), "\", \"timestamp\": \"", at(i),
                   "\", \"severity\": \"ERROR\", \"resource\": {\"labels\": {\"zone\": \"a\"}}}\n");
      },
      [&](int i, auto text) {
        return cat("{\"labels\": {\"job\": \"rl\"}, \"line\": \"", quoted(text), "\", \"timestamp\": \"", at(i),
                   "\"}\n");
      }};
  for (size_t i = 0; i < wraps.size(); ++i) {
    CAPTURE(i);
    const State state = crashed(wraps[i]);
    CHECK(state.steps().last == 80);
    CHECK(state.find("reward.mean") != nullptr);
    CHECK(has(state, "crash"));
  }
  CHECK(has(crashed(wraps[1], "train.jsonl"), "crash"));
}

}  // namespace
}  // namespace mw
