// Names under which files keep what a model was asked and what it answered.
#pragma once

#include <array>
#include <string_view>

#include "base/one_of.h"

namespace mw {

inline bool is_sample_name(std::string_view name) {
  static constexpr std::array<std::string_view, 24> kUsual = {
      "prompt",       "prompts",       "completion",   "completions",    "response", "responses",
      "messages",     "input",         "output",       "question",       "answer",   "solution",
      "conversation", "conversations", "trajectory",   "chosen",         "rejected", "instruction",
      "ground_truth", "gts",           "model_output", "generated_text", "content",  "problem"};
  return is_one_of(name, kUsual);
}

}  // namespace mw
