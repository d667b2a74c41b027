#include "core/not_seen.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "core/detect/support/reward_count.h"
#include "core/detect/tools/track.h"
#include "core/trajectory.h"

namespace mw {
namespace {

constexpr size_t kPointsLeast = 10;  // fewer are no course
constexpr size_t kNamed = 4;

bool is_learning(std::string_view signal) {
  return signal.starts_with("loss.") || signal.starts_with("grad_norm") || signal.starts_with("kl.") ||
         signal == "entropy" || signal == "lr";
}

/// Figures of a machine or an engine, by the names that W&B and the engines' own logs give them; times and amounts.
bool no_reward(std::string_view raw) {
  static constexpr std::array<std::string_view, 4> kGroups{"system/", "system.", "vllm/", "sglang/"};
  static constexpr std::array<std::string_view, 11> kWords{
      "time", "duration", "second", "elapsed", "token", "throughput", "memory", "epoch", "gpu", "sample", "speed"};
  return std::any_of(kGroups.begin(), kGroups.end(), [raw](auto group) { return raw.starts_with(group); }) ||
         std::any_of(kWords.begin(), kWords.end(), [raw](auto word) { return contains_folded(raw, word); });
}

bool may_be_reward(std::string_view raw) { return named_like_reward(raw) || contains_folded(raw, "accura"); }

}  // namespace

std::vector<std::string> not_seen(const State& state) {
  if (std::none_of(state.attempts.begin(), state.attempts.end(),
                   [](const AttemptState& attempt) { return attempt.last_step != kNoStep; }))
    return {};  // nothing that counts steps: a server, a launcher
  bool trains = false;
  std::string unread;
  for (const SourceState& source : state.sources) {
    for (const std::string& problem : source.problems) {
      if (problem.starts_with(kUnreadReward) && unread.empty()) unread = problem.substr(kUnreadReward.size() + 2);
    }
  }
  std::vector<std::string> unknown;
  for (const Series& series : state.series) {
    const bool rewards = (series.signal.starts_with("reward.") && !counts_rewards(series.signal)) ||
                         series.signal.starts_with("return.") || series.signal.starts_with("accuracy.") ||
                         series.signal.starts_with("eval.");
    if (rewards && !series.empty()) return {};  // however few: a reward may come once for several steps
    const bool of_machine = series.source < state.sources.size() && state.sources[series.source].kind == "host";
    if (series.count() < kPointsLeast || of_machine || of_trajectory(series.raw) || no_reward(series.raw)) continue;
    trains = trains || is_learning(series.signal);
    if (series.signal.empty() && std::find(unknown.begin(), unknown.end(), series.raw) == unknown.end())
      unknown.push_back(series.raw);
  }
  if (!unread.empty()) {
    return {
        cat("No reward was recognised. Lines such as \"", clip(unread, 100),
            "\" seem to have it, and were not read as records of a step: what the reward did is not known. One line "
            "a step with the step, the reward and the loss is read, and so is a file of metrics beside the log.")};
  }
  if (unknown.empty() || (!trains && unknown.size() > kNamed * 3)) return {};
  std::stable_partition(unknown.begin(), unknown.end(), may_be_reward);
  std::string names;
  for (size_t i = 0; i < std::min(unknown.size(), kNamed); ++i) names += cat(i == 0 ? "" : ", ", clip(unknown[i], 60));
  if (unknown.size() > kNamed) names += ", …";
  return {cat("No reward was recognised. Other figures: ", names,
              ". If one is the reward, name it in midwatch.toml: [signals] reward = \"", clip(unknown.front(), 60),
              "\"")};
}

}  // namespace mw
