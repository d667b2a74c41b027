// Kinds of numbers that tensors hold, under the names of safetensors, of torch and of zarr.
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

enum class Dtype : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU8,
  kBool,
  kC128,  ///< complex
  kC64,
  kQI32,  ///< torch's quantized ones
  kQI8,
  kQU8,
  kOther
};

/// Bytes of one number; 0 of kOther.
size_t size_of(Dtype dtype);
/// "BF16", "F32", …; "other".
std::string_view name_of(Dtype dtype);
/// Of a name in a safetensors header ("BF16"), of a torch dtype or storage ("bfloat16", "BFloat16Storage"), of a zarr
/// array ("<f4") or of a config.json ("torch.bfloat16").
Dtype dtype_named(std::string_view name);

}  // namespace mw
