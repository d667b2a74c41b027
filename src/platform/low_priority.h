// Work that may wait: for the processor, and for the disk.
#pragma once

namespace mw {

/// Puts the calling thread, and those that it begins, behind all others: nice 19, disk class "idle". What the system
/// refuses stays as it is.
void lower_own_priority();

}  // namespace mw
