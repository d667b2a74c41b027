// Where in the training a line of a trainer that nobody described says it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/event.h"
#include "read/lines/rare_bytes.h"

namespace mw {

struct StepPlace {
  int64_t step = kNoStep, step_total = 0;
  int64_t epoch = kNoStep, epoch_total = 0;
  std::string_view word;      ///< "step", "iter", "batch", ...; "it" where nothing but a count says it
  size_t begin = 0, end = 0;  ///< of the words that say so, with the brackets around them; both 0: a progress bar
  bool known() const { return step != kNoStep || epoch != kNoStep; }
};

/// "Step 12:", "[step 3/100]", "Epoch 2 Batch 3/40", "第 12 步", "12%|#  | 12/100 [00:10<01:20, ...", "[run-a]  12/100
/// | ...". `rare`: of the line that it is, or is a part of.
StepPlace find_place(std::string_view text, RareBytes rare = {});

/// "[step=12/100,epoch=1]": what stands behind the step, without the epoch.
std::string_view without_epoch(std::string_view after);

/// A progress bar with values behind its times. `done_at`: before the count of what is done.
bool is_bar(std::string_view text, size_t* done_at);

/// How many steps there will be, where a line says nothing else: "Total steps: 60", "num_steps = 60". 0: it does not.
int64_t find_plan(std::string_view text);

}  // namespace mw
