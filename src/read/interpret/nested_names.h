// Records whose figures lie in an object of their own: {"step": 5, "payload": {"loss": 0.5, "reward": 0.25}}.
#pragma once

#include <span>
#include <vector>

#include "read/interpret/generic.h"
#include "read/lines/metric_line.h"

namespace mw {

/// Where several figures that training measures lie in one object, whatever it is called, and are not known by their
/// whole names, `out` becomes all figures with the bare names of those. False: there is no such object. One that is of
/// an evaluation, of time or of another model than the one that is trained is none.
bool read_nested_names(std::span<const RowNumber> numbers, const DialectBook& book, GenericReader& generic,
                       std::vector<RowNumber>& out);

}  // namespace mw
