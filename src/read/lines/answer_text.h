// Lines of a model's answer that was printed, which are no record of a training.
#pragma once

#include <string_view>

#include "read/lines/metric_line.h"

namespace mw {

/// "**Step 1: add the eggs**", "* **Step 1:** Add the eggs.": Markdown is a model's answer that was printed.
bool is_markdown_step(std::string_view text);
/// "Metrics: {'format_reward': 1.0, 'answer_reward': 0.0, 'reward': 0.0}": how one answer that is printed was judged.
bool is_one_answer(std::string_view text, const MetricLine& out);

}  // namespace mw
