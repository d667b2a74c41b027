#include "read/interpret/save_line.h"

#include <algorithm>
#include <array>
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

/// The word that is a path: it has a slash, or the name of a file of weights.
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

/// The last number in the last part of a path: "out/ckpt_10.pt", "step-10/", "000010.safetensors".
int64_t step_of_path(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string_view name = path.substr(path.rfind('/') == kNone ? 0 : path.rfind('/') + 1);
  for (const std::string_view end : kWeightFiles) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  const std::string_view digits = name.substr(begin, end - begin);
  if (digits.empty() || digits.size() > kStepDigits) return kNoStep;
  return parse_int(digits).value_or(kNoStep);
}

/// Whether the line can hold one of read_save()'s words for "saved": most lines cannot, and are not taken apart.
bool may_be_save(std::string_view text, RareBytes rare) {
  return contains_folded(text, "sav") || contains_folded(text, "wr") || contains_folded(text, "dump") ||
         (rare.may_hold('@') && text.find('@') != kNone) || (rare.may_be_wide() && contains(text, "保存"));
}

/// The line without its path, in lower case.
std::string words_of(std::string_view text, std::string_view path) {
  const size_t at = path.empty() ? text.size() : static_cast<size_t>(path.data() - text.data());
  return to_lower(cat(text.substr(0, at), " ", path.empty() ? "" : text.substr(at + path.size())));
}

}  // namespace

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
  if (!has_any(words, kDone) || has_any(words, kOthers) || ends_with_any(path, kOtherFiles)) return std::nullopt;
  if (!has_any(words, kThings) && !ends_with_any(path, kWeightFiles)) return std::nullopt;
  SaveLine found;
  found.path = path;
  const StepPlace at = find_place(words);
  found.step = at.step != kNoStep && at.word != "it" ? at.step : step_of_path(path);
  if (found.step == kNoStep && path.empty()) return std::nullopt;
  found.complete = !contains(words, "saving") || contains(words, "done") || contains(words, "saved");
  return found;
}

}  // namespace mw
