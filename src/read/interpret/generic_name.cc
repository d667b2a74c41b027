// Names of figures as the generic dialect writes them.
#include <algorithm>
#include <array>

#include "read/interpret/generic.h"

namespace mw {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

void normal_name(std::string_view raw, std::string& out) {
  static constexpr std::array<std::string_view, 21> kLeads = {
      "train/",   "training/", "metrics/",     "stats/",      "actor/",       "policy/",       "rollout/",
      "trainer/", "train_",    "group_stats/", "step_stats/", "batch_stats/", "step_metrics/", "grpo/",
      "ppo/",     "rl/",       "loss/",        "losses/",     "charts/",      "avg/",          "optim/"};
  out.clear();
  char before = '_';
  for (const char c : raw) {
    const char folded = lower(c);
    if (folded != c && before >= 'a' && before <= 'z') out.push_back('_');  // "policyLoss"
    before = c;
    const bool gap = folded == ' ' || folded == '-' || folded == '.' || folded == '_';
    if (gap && (out.empty() || out.back() == '_')) continue;
    out.push_back(gap ? '_' : folded);
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  for (int i = 0; i < 2; ++i) {
    for (const std::string_view lead : kLeads) {
      if (out.size() > lead.size() && out[0] == lead[0] && out.compare(0, lead.size(), lead) == 0) {
        out.erase(0, lead.size());
        break;
      }
    }
  }
}

void core_name(std::string_view normal, std::string& out) {
  static constexpr std::array<std::string_view, 15> kHow = {"mean",  "avg",      "average",  "ave",  "batch",
                                                            "train", "training", "cur",      "curr", "current",
                                                            "iters", "rollout",  "rollouts", "平均", "the"};
  out.clear();
  for (std::string_view rest = normal; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of("_/"), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!word.empty() && std::find(kHow.begin(), kHow.end(), word) == kHow.end()) {
      if (!out.empty()) out.push_back('_');
      out.append(word);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (out.starts_with("平均")) out.erase(0, std::string_view("平均").size());
}

}  // namespace mw
