#include "core/evaluation_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kNoResults[] = {
    "time",  "timing",   "per_second", "latency", "duration", "len",     "std",    "min",      "max",
    "token", "count",    "num",        "samples", "epoch",    "entropy", "kl",     "trunc",    "clip",
    "turn",  "branches", "fail",       "abort",   "cancel",   "complet", "stop_",  "invalid",  "no_",
    "bad",   "wrong",    "incorrect",  "mixed",   "penal",    "refus",   "violat", "hallucin", "exceed",
    "null",  "empty",    "repeat",     "toxic",   "version"};
constexpr std::string_view kLosses[] = {"loss", "perplexity", "ppl", "error"};
constexpr std::string_view kScores[] = {"acc",     "pass",        "score", "reward", "success",
                                        "correct", "exact_match", "solve", "match",  "win",
                                        "f1",      "bleu",        "rouge", "avg@",   "mean"};

template <size_t N>
bool has_any(const std::string& name, const std::string_view (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&name](std::string_view word) { return contains(name, word); });
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
  return has_any(lower, kScores) ? EvaluationSense::kHigher : EvaluationSense::kUnsaid;
}

}  // namespace mw
