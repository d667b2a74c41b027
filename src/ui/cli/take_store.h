// The words of a command line by which an object store is named and reached.
#pragma once

#include <functional>

#include "api/shipping.h"
#include "base/result.h"
#include "ui/cli/verb.h"

namespace mw {

/// How a store is reached, without what a transfer may use.
void declare_place(ArgSpec& spec);
StoreAddress take_place(const Args& args, const std::string& place);
void declare_store(ArgSpec& spec);
/// kInvalid: what stands for `word` is empty, as a variable that is not set makes it: no folder of that name is meant.
Result<void> must_name(std::string_view word, std::string_view place);
/// kInvalid: no place, a number or a size that is none.
Result<StoreAddress> take_store(const Args& args, const std::string& place);
/// --step; kNoStep when it is not given.
Result<int64_t> take_step(const Args& args);
/// How far it is, on a terminal: bytes, rate and time left, five times a second. Elsewhere "".
std::function<void(int64_t, int64_t)> progress_line(const Console& console, const Args& args, std::string_view verb);
/// Takes the line of progress away.
void end_progress(const Console& console, const Args& args);

/// "3.1 GB in 12 s (258 MB/s)"
std::string transfer_text(int64_t bytes, double seconds);

}  // namespace mw
