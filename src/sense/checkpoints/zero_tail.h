// Zeros that run to the end of a file of weights: its end was never written. A copy that was broken off leaves them in
// a file that was given its full size before, and one that was cut and made longer again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/file_directory.h"

namespace mw {

/// Numbers of a tensor; one of fewer (a bias, a scale, a gate) may come to zero by itself.
inline constexpr uint64_t kFewNumbers = 64;

struct ZeroTail {
  uint64_t at = 0, bytes = 0;  ///< in the file
  std::string name;            ///< of the tensor in which they begin
  bool inside = false;         ///< there are other numbers in that tensor before them
  size_t tensors = 0;          ///< behind it, or it and those behind it: all zero
};

/// Of a file of `bytes` without checksums, whose tensors are `ranges`, in order. One page of its end is read; more only
/// where that is zero, and of many zeros samples. Nothing where a healthy file may end so: fewer than a page; rows or
/// columns of padding (zeros that begin with a row, where no other layer's tensor of that name has numbers there; or
/// that the row before has, too); one tensor of zeros, or several of a kind that are zero in other layers, too; what a
/// model is pruned to; and what begins at zero by its name (LoRA's second half).
std::optional<ZeroTail> zero_tail(ReadFile& file, uint64_t bytes, const std::vector<ByteRange>& ranges);

/// One sentence, without the file's name.
std::string sentence_of(const ZeroTail& tail);

/// By its name: a LoRA's second half.
bool begins_at_zero(std::string_view name);
/// By its name: that, and what is set to zero on purpose or counts anew (masks, buffers).
bool may_become_zero(std::string_view name);

}  // namespace mw
