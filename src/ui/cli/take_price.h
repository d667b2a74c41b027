// The option --cost-per-hour.
#pragma once

#include "base/result.h"
#include "ui/cli/verb.h"

namespace mw {

/// For views: it holds for this one answer, whatever the run's record says.
void declare_price(ArgSpec& spec);

/// 0 where it was not given; an error where it is no price.
Result<double> take_price(const Args& args);

}  // namespace mw
