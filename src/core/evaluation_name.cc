#include "core/evaluation_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kNoResults[] = {
    "time", "timing", "per_second", "latency", "duration", "len", "std", "min", "max", "token", "count", "num",
    "samples", "epoch", "entropy", "kl", "trunc", "clip", "turn", "branches", "fail", "abort", "cancel", "complet",
    "stop_", "invalid", "no_", "bad", "wrong", "incorrect", "mixed", "penal", "refus", "violat", "hallucin", "exceed",
    "null", "empty", "repeat", "toxic", "version", "veto", "reject", "interven", "collision", "skip", "fallback",
    "overrid", "escalat", "blocked", "flagged", "filter", "overlong", "too_long", "repetit",
    // how sure a result is
    "stderr", "variance", "halfwidth", "half_width", "confidence", "ci95", "ci_low", "ci_high"};
// Of what a share or a mean is says the rest of the name; these alone do not say that more is better.
constexpr std::string_view kShares[] = {"rate", "ratio", "frac", "fraction", "share", "percent", "pct", "prob", "freq"};
constexpr std::string_view kLosses[] = {"loss", "perplexity", "ppl", "error"};
constexpr std::string_view kScores[] = {"acc",   "pass",  "score", "reward", "success", "correct", "exact_match",
                                        "solve", "match", "win",   "f1",     "bleu",    "rouge",   "avg@"};

template <size_t N>
bool has_any(const std::string& name, const std::string_view (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&name](std::string_view word) { return contains(name, word); });
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// "val_veto_rate", but not "generated": one of the words as a word of its own.
template <size_t N>
bool has_word(const std::string& name, const std::string_view (&words)[N]) {
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && is_letter(name[end])) ++end;
    const std::string_view word = std::string_view(name).substr(at, end - at);
    if (std::find(std::begin(words), std::end(words), word) != std::end(words)) return true;
    at = end + 1;
  }
  return false;
}

/// ".../p90": a percentile of a batch, not its level.
bool is_percentile(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return last.size() >= 2 && last.size() <= 4 && last[0] == 'p' &&
         std::all_of(last.begin() + 1, last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

EvaluationSense evaluation_sense(std::string_view name) {
  const std::string lower = to_lower(name);
  if (has_any(lower, kNoResults) || is_percentile(lower)) return EvaluationSense::kNoResult;
  if (has_any(lower, kLosses)) return EvaluationSense::kLower;
  if (has_any(lower, kScores)) return EvaluationSense::kHigher;
  if (has_word(lower, kShares)) return EvaluationSense::kNoResult;
  return contains(lower, "mean") ? EvaluationSense::kHigher : EvaluationSense::kUnsaid;
}

}  // namespace mw
