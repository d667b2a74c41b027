#include "read/interpret/save_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "read/interpret/step_place.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kLineLimit = 300;  // bytes
constexpr size_t kStepDigits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

constexpr std::array<std::string_view, 5> kWeightFiles = {".pt", ".pth", ".bin", ".safetensors", ".ckpt"};
constexpr std::array<std::string_view, 11> kOtherFiles = {".json", ".jsonl", ".png", ".csv",  ".txt", ".parquet",
                                                          ".log",  ".html",  ".md",  ".yaml", ".npz"};

bool ends_with_any(std::string_view text, std::span<const std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [text](std::string_view end) { return text.ends_with(end); });
}

/// Does a number that stands behind `before` count something else than steps: a model's name or a version ("gpt2",
/// "llama-3", "out_v2"), or epochs? What is saved then is of the step that the run is at.
bool counts_no_steps(std::string_view before) {
  static constexpr std::array<std::string_view, 10> kCounters = {"step", "steps",      "iter",   "iteration", "it",
                                                                 "ckpt", "checkpoint", "update", "round",     "batch"};
  static constexpr std::array<std::string_view, 13> kModels = {"gpt",     "llama",  "qwen",    "gemma",  "phi",
                                                               "mistral", "opt",    "glm",     "pythia", "falcon",
                                                               "olmo",    "smollm", "deepseek"};
  const bool apart = before.empty() || before.back() == '-' || before.back() == '_' || before.back() == '.';
  while (!before.empty() && (before.back() == '-' || before.back() == '_')) before.remove_suffix(1);
  size_t begin = before.size();
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(before[begin - 1])) != 0) --begin;
  const std::string word = to_lower(before.substr(begin));
  if (word == "epoch" || word == "ep") return true;
  const auto is_word = [&word](std::string_view one) { return one == word; };
  if (word.empty() || std::any_of(kCounters.begin(), kCounters.end(), is_word)) return false;
  return !apart || std::any_of(kModels.begin(), kModels.end(), is_word);
}

/// The step of "-> Checkpoint step_30", which says nothing but that there is one. In lower case.
int64_t bare_step(std::string_view words) {
  words = trim(words);
  if (words.starts_with('[')) words.remove_prefix(std::min(words.find(']'), words.size()));  // a run's own name
  while (!words.empty() && std::isalnum(static_cast<unsigned char>(words.front())) == 0) words.remove_prefix(1);
  const bool named = words.starts_with("checkpoint") || words.starts_with("ckpt");
  if (!named) return kNoStep;
  words.remove_prefix(words.starts_with("ckpt") ? 4 : 10);
  while (!words.empty() && (words.front() == ' ' || words.front() == ':')) words.remove_prefix(1);
  if (!words.starts_with("step")) return kNoStep;
  words = trim(words.substr(4));
  while (!words.empty() && (words.front() == '_' || words.front() == '-' || words.front() == ' '))
    words.remove_prefix(1);
  const bool number = !words.empty() && std::all_of(words.begin(), words.end(), is_digit);
  return number ? parse_int(words).value_or(kNoStep) : kNoStep;
}

/// Whether the line can hold one of read_save()'s words for "saved": most lines cannot, and are not taken apart.
bool may_be_save(std::string_view text, RareBytes rare) {
  constexpr size_t kBare = 40;
  if (text.size() <= kBare && (contains_folded(text, "checkpoint ") || contains_folded(text, "ckpt "))) return true;
  return contains_folded(text, "sav") || contains_folded(text, "wr") || contains_folded(text, "dump") ||
         (rare.may_hold('@') && text.find('@') != kNone) || (rare.may_be_wide() && contains(text, "保存"));
}

/// The line without its path, in lower case.
std::string words_of(std::string_view text, std::string_view path) {
  const size_t at = path.empty() ? text.size() : static_cast<size_t>(path.data() - text.data());
  return to_lower(cat(text.substr(0, at), " ", path.empty() ? "" : text.substr(at + path.size())));
}

}  // namespace

std::string_view path_in(std::string_view text) {
  constexpr std::string_view kAround = "'\"`()[],:;";
  for (std::string_view word : split(text, ' ')) {
    while (!word.empty() && kAround.find(word.front()) != kNone) word.remove_prefix(1);
    while (!word.empty() && (kAround.find(word.back()) != kNone || word.back() == '.')) word.remove_suffix(1);
    const bool slash = word.size() > 2 && word.find('/') != kNone && word.find("://") == kNone;
    if (slash || ends_with_any(word, kWeightFiles)) return word;
  }
  return {};
}

int64_t step_of_path(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (contains(path, "checkpoints/checkpoint_")) return kNoStep;  // accelerate's own names, which count saves
  std::string_view name = path.substr(path.rfind('/') == kNone ? 0 : path.rfind('/') + 1);
  for (const std::string_view end : kWeightFiles) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  const std::string_view digits = name.substr(begin, end - begin);
  if (digits.empty() || digits.size() > kStepDigits || counts_no_steps(name.substr(0, begin))) return kNoStep;
  if (end < name.size() && (name[end] == 'b' || name[end] == 'B')) return kNoStep;  // billions of weights
  return parse_int(digits).value_or(kNoStep);
}

std::optional<SaveLine> read_save(std::string_view text, RareBytes rare) {
  static constexpr std::array<std::string_view, 10> kDone = {
      "saved",      "wrote",        "written", "dumped",        "saving",
      "torch.save", "checkpoint @", "保存",    "save model to", "save checkpoint to"};
  static constexpr std::array<std::string_view, 11> kThings = {
      "checkpoint", "ckpt", "model", "weights", "state", "adapter", "policy", "network", "模型", "检查点", "权重"};
  static constexpr std::array<std::string_view, 35> kOthers = {
      "fail",    "error",     "skip",    "will ",   "next",   "load",   "resum", "rollout", "config",
      "token",   "plot",      "every",   "disab",   "denied", "cannot", "can't", "not ",    "sample",
      "metric",  "dataset",   "generat", "traject", "video",  "image",  "table", "cache",   "figure",
      "history", "optimizer", "buffer",  "result",  "prompt", "space",  "delet", "remov"};
  text = trim(text);
  const bool bar = rare.may_hold('%') && contains(text, "%|");
  if (bar || text.size() > kLineLimit || !may_be_save(text, rare)) return std::nullopt;
  const std::string_view path = path_in(text);
  const std::string words = words_of(text, path);
  const int64_t bare = bare_step(words);
  if ((!has_any(words, kDone) && bare == kNoStep) || has_any(words, kOthers) || ends_with_any(path, kOtherFiles))
    return std::nullopt;
  if (!has_any(words, kThings) && !ends_with_any(path, kWeightFiles)) return std::nullopt;
  SaveLine found;
  found.path = path;
  const StepPlace at = find_place(words);
  const bool elsewhere = at.word == "it" || (!path.empty() && (at.word == "epoch" || at.word == "ep"));
  found.step = bare != kNoStep ? bare : at.step != kNoStep && !elsewhere ? at.step : step_of_path(path);
  if (found.step == kNoStep && path.empty()) return std::nullopt;
  found.complete = !contains(words, "saving") || contains(words, "done") || contains(words, "saved");
  return found;
}

std::optional<SaveLine> read_removal(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kGone = {"deleted",  "removed",  "pruned",
                                                            "deleting", "removing", "cleaned up"};
  static constexpr std::array<std::string_view, 22> kOthers = {
      "fail",  "error", "skip", "will ", "would", "cannot", "can't", "not ", "upload", "push",  "copied",
      "local", "temp",  "tmp",  "cache", "shard", "optim",  "keep",  "kept", "best",   "from ", "hook"};
  text = trim(text);
  if (text.size() > kLineLimit || (!contains_folded(text, "checkpoint") && !contains_folded(text, "ckpt")))
    return std::nullopt;
  const std::string_view path = path_in(text);
  const std::string words = words_of(text, path);
  if (!has_any(words, kGone) || has_any(words, kOthers) || ends_with_any(path, kOtherFiles)) return std::nullopt;
  const int64_t step = path.empty() ? find_place(words).step : step_of_path(path);
  if (step == kNoStep) return std::nullopt;
  return SaveLine{step, path, true};
}

}  // namespace mw
