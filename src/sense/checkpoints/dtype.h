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
  kF8E4M3,  ///< of 8 bits: no infinity, and one pattern is NaN
  kF8E5M2,
  kF8E4M3Fnuz,  ///< neither infinity nor -0, whose pattern is NaN
  kF8E5M2Fnuz,
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
/// Bits of one number of a kind, by the name that a safetensors header gives it; 0: its library (0.7) knows none of it.
unsigned safetensors_bits(std::string_view name);
/// May that name, which the library does not know, be one that a newer library gives to numbers of so many bits? By its
/// form: "F4_E2M1", "U4", "I128".
bool may_be_newer_dtype(std::string_view name, unsigned bits);
/// Of a name in a safetensors header ("BF16"), of a torch dtype or storage ("bfloat16", "BFloat16Storage"), of a zarr
/// array ("<f4") or of a config.json ("torch.bfloat16").
Dtype dtype_named(std::string_view name);

}  // namespace mw
