#include "read/files/cell_code.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace {

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// "ppo_trainer.step", "train_model" of "stats = train_model(model)": the dotted name before the bracket at `end`.
std::string_view called(std::string_view line, size_t end) {
  size_t begin = end;
  while (begin > 0 && name_char(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

bool is_training(std::string_view name) {
  constexpr std::array<std::string_view, 4> kMethods = {"train", "fit", "learn", "step"};
  const size_t dot = name.rfind('.');
  const std::string_view function = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  const std::string_view of = name.substr(0, dot == std::string_view::npos ? 0 : dot);
  if (!of.empty()) {
    const bool method = std::find(kMethods.begin(), kMethods.end(), function) != kMethods.end();
    if (method) return contains_folded(of, "train") || function == "learn" || function == "fit";
  }
  constexpr std::array<std::string_view, 9> kTools = {"train_test", "training_arg", "plot", "eval", "get_",
                                                      "load_",      "make_",        "prep", "test_"};
  if (std::any_of(kTools.begin(), kTools.end(), [&](auto tool) { return contains(function, tool); })) return false;
  constexpr std::array<std::string_view, 6> kWays = {"ppo", "grpo", "dpo", "sft", "rlhf", "finetune"};
  const bool runs = function.starts_with("run_") || function.starts_with("do_") || function.starts_with("finetune");
  if (runs && std::any_of(kWays.begin(), kWays.end(), [&](auto way) { return contains(function, way); })) return true;
  return function == "train" || function.starts_with("train_") || function.ends_with("_train") ||
         function.ends_with("_training");
}

bool line_trains(std::string_view line) {
  line = trim(line);
  if (line.starts_with('#') || line.starts_with("def ") || line.starts_with("async def ")) return false;
  if (line.starts_with('!') || line.starts_with("%run")) {
    return contains_folded(line, "train") && (contains(line, ".py") || contains(line, "launch"));
  }
  if (contains(line, ".backward(")) return true;  // a loop of its own
  for (size_t at = line.find('('); at != std::string_view::npos; at = line.find('(', at + 1)) {
    if (is_training(called(line, at))) return true;
  }
  return false;
}

}  // namespace

bool code_trains(std::string_view code) {
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size());
    if (line_trains(code.substr(0, end))) return true;
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return false;
}

}  // namespace mw
